/*
 * Copyright (c) The ipu.pod authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs the SPANK plugin for the tasks that standard input tells, each a list of words that end with a NUL: its rank, the
 * argument options=, what the user asked for ("-" for nothing), the job's file ("-" for none), and its environment; a
 * word "." ends it. Prints of each: the plugin's answer, what it said, its environment and "."; words again.
 *
 * Argument: the directory of jobs' files.
 */

#define _GNU_SOURCE
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whoever runs the tests stands for root. */
static int fstat_of_root(int descriptor, struct stat *found)
{
    int code = fstat(descriptor, found);

    found->st_uid = 0;
    return code;
}
#define fstat fstat_of_root
#include "spank_ipu.c"

enum { SECONDS = 5, WORDS = 4096 };

static char *environment[WORDS];
static unsigned task_rank;
static const char *asked_for;

static size_t find(const char *name)
{
    size_t i = 0, length = strlen(name);

    while (environment[i] != NULL && (strncmp(environment[i], name, length) != 0 || environment[i][length] != '='))
        i++;
    return i;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
    size_t i;

    (void)spank;
    while (environment[i = find(name)] != NULL) {
        free(environment[i]);
        for (; environment[i] != NULL; i++)
            environment[i] = environment[i + 1];
    }
    return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
    size_t last;

    (void)overwrite;
    spank_unsetenv(spank, name);
    last = find(name);
    if (asprintf(&environment[last], "%s=%s", name, value) < 0)
        abort();
    environment[last + 1] = NULL;
    return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int size)
{
    const char *entry = environment[find(name)];

    (void)spank;
    if (entry == NULL || strlen(entry) - strlen(name) > (size_t)size)
        return ESPANK_NOSPACE;
    strcpy(buffer, entry + strlen(name) + 1);
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    va_list arguments;

    (void)spank;
    va_start(arguments, item);
    if (item == S_JOB_ENV)
        *va_arg(arguments, char ***) = environment;
    else
        *va_arg(arguments, uint32_t *) = item == S_TASK_GLOBAL_ID ? task_rank : 1;
    va_end(arguments);
    return ESPANK_SUCCESS;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
    (void)spank;
    return option->cb(option->val, asked_for, asked_for == NULL) == SLURM_SUCCESS ? ESPANK_SUCCESS : ESPANK_ERROR;
}

spank_err_t spank_option_getopt(spank_t spank, struct spank_option *option, char **value)
{
    (void)spank;
    (void)option;
    *value = (char *)asked_for;
    return ESPANK_SUCCESS;
}

static void say(const char *format, va_list arguments)
{
    vprintf(format, arguments);
    putchar('\0');
}

void slurm_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void slurm_spank_log(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

static char *next_word(void)
{
    char *word = NULL;
    size_t size = 0;

    if (getdelim(&word, &size, '\0', stdin) < 0) {
        free(word);
        return NULL;
    }
    return word;
}

static void write_file(const char *path, const char *text)
{
    FILE *file;

    unlink(path);
    if (strcmp(text, "-") == 0)
        return;
    if ((file = fopen(path, "w")) == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

int main(int argc, char **argv)
{
    char path[4096], run[4096], options[4096], *arguments[] = {options, run}, *word;

    if (argc != 2)
        return 2;
    snprintf(run, sizeof run, "run=%s", argv[1]);
    snprintf(path, sizeof path, "%s/1.env", argv[1]);
    while ((word = next_word()) != NULL) {
        size_t count = 0;
        char *named = next_word(), *asked = next_word(), *text = next_word();

        task_rank = (unsigned)strtoul(word, NULL, 10);
        snprintf(options, sizeof options, "options=%s", named);
        asked_for = strcmp(asked, "-") == 0 ? NULL : asked;
        write_file(path, text);
        free(word);
        while ((word = next_word()) != NULL && strcmp(word, ".") != 0 && count < WORDS / 2)
            environment[count++] = word;
        environment[count] = NULL;

        /* Whatever goes on for longer does not end. */
        alarm(SECONDS);
        slurm_spank_init(NULL, 2, arguments);
        printf("%d%c", slurm_spank_task_init(NULL, 2, arguments), '\0');
        for (size_t i = 0; environment[i] != NULL; i++) {
            printf("%s%c", environment[i], '\0');
            free(environment[i]);
        }
        printf(".%c", '\0');
        free(word);
        free(named);
        free(asked);
        free(text);
    }
    return 0;
}
