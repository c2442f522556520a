/*
 * Copyright (c) The ipu.pod authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slurm's options --ipus and --num-replicas, and the environment of a job's tasks.
 *
 * The options only reach job_submit.lua, which decides. What a task gets is what root wrote into RUN/JOBID.env on this
 * node: `gcds=N`, then NAME=VALUE with %g for the number of the task's GCD; or `refused`.
 *
 * Arguments in plugstack.conf: options=NAME,NAME (which options there are; none without) and run=DIRECTORY.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>

SPANK_PLUGIN(ipu, 1)

enum { NUMBER_DIGITS = 6, OVERWRITE = 1, IPUS = 0 };

static const char *const IPUOF_NAMES[] = {"IPUOF_VIPU_API_PARTITION_ID", "IPUOF_VIPU_API_GCD_ID", "IPUOF_CONFIG_PATH"};
static const char IPUOF_PREFIX[] = "IPUOF_";
static const char OWN_PREFIX[] = "IPU_POD_";
static const char IPUS_NAME[] = "IPU_POD_IPUS";
/* Where Slurm keeps our options for the job's own steps; what the job submits would have them, too. */
static const char OPTION_PREFIX[] = "SLURM_SPANK__SLURM_SPANK_OPTION_ipu_";
static const char GCDS_PREFIX[] = "gcds=";
static const char REFUSED[] = "refused";
static const char GCD_MARK[] = "%g";

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The number that a text is; 0 if it is no positive one. */
static unsigned positive_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (text[digits] != '\0' || digits > NUMBER_DIGITS)
        return 0;
    return (unsigned)strtoul(text, NULL, 10);
}

/* The value of a NAME=VALUE argument of plugstack.conf; empty if it is not there. */
static const char *argument(const char *name, int argc, char **argv)
{
    size_t length = strlen(name);

    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return argv[i] + length + 1;
    return "";
}

/* Whether a word stands in a list with commas. */
static bool listed(const char *word, const char *list)
{
    size_t length = strlen(word);

    for (const char *item = list; *item != '\0';) {
        size_t end = strcspn(item, ",");
        if (end == length && strncmp(item, word, length) == 0)
            return true;
        item += end + (item[end] == ',');
    }
    return false;
}

static int check_number(const char *option, const char *value, int remote)
{
    if (remote || (value != NULL && positive_number(value) > 0))
        return SLURM_SUCCESS;
    slurm_error("--%s: \"%s\" is no positive number; write for example --%s=4", option, value ? value : "", option);
    return SLURM_ERROR;
}

static int check_ipus(int val, const char *value, int remote)
{
    (void)val;
    return check_number("ipus", value, remote);
}

static int check_replicas(int val, const char *value, int remote)
{
    (void)val;
    return check_number("num-replicas", value, remote);
}

static struct spank_option OPTIONS[] = {
    {"ipus", "N", "number of IPUs of the job", 1, 0, check_ipus},
    {"num-replicas", "N", "number of model replicas on these IPUs", 1, 0, check_replicas},
};

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
    const char *wanted = argument("options", argc, argv);

    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        if (listed(OPTIONS[i].name, wanted) && spank_option_register(spank, &OPTIONS[i]) != ESPANK_SUCCESS)
            return SLURM_ERROR;
    return SLURM_SUCCESS;
}

/* Remove all variables that begin with a prefix from a task's environment. An entry without "=" is no variable: it has
 * no value that a program could read, and Slurm does not remove it. */
static void unset_prefix(spank_t spank, const char *prefix)
{
    char **environment;

    for (size_t i = 0; spank_get_item(spank, S_JOB_ENV, &environment) == ESPANK_SUCCESS && environment[i] != NULL;) {
        const char *entry = environment[i];
        size_t length = strcspn(entry, "=");
        char *name = begins_with(entry, prefix) && entry[length] == '=' ? strndup(entry, length) : NULL;
        /* Where one is removed, the next one has moved to its place. */
        if (name == NULL || spank_unsetenv(spank, name) != ESPANK_SUCCESS)
            i++;
        free(name);
    }
}

static void unset_ipuof(spank_t spank)
{
    for (size_t i = 0; i < sizeof IPUOF_NAMES / sizeof *IPUOF_NAMES; i++)
        spank_unsetenv(spank, IPUOF_NAMES[i]);
}

/* Whether only root can have written an open file. */
static bool by_root(int descriptor)
{
    struct stat found;

    return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == 0
        && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A line without its end; false at the end of the file. */
static bool next_line(FILE *file, char **line, size_t *size)
{
    ssize_t length = getline(line, size, file);

    if (length > 0 && (*line)[length - 1] == '\n')
        (*line)[length - 1] = '\0';
    return length >= 0;
}

/* Set a variable from NAME=VALUE, with the GCD's number for each %g. */
static bool set_variable(spank_t spank, char *line, unsigned gcd)
{
    char *value = strchr(line, '='), *text = NULL;
    size_t length;
    bool done;

    if (value == NULL || value == line)
        return false;
    *value++ = '\0';

    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return false;
    for (char *mark; (mark = strstr(value, GCD_MARK)) != NULL; value = mark + strlen(GCD_MARK))
        fprintf(out, "%.*s%u", (int)(mark - value), value, gcd);
    fputs(value, out);
    done = fclose(out) == 0 && spank_setenv(spank, line, text, OVERWRITE) == ESPANK_SUCCESS;
    free(text);
    return done;
}

/* Set what the lines of a job's file say; false if they are not understood. */
static bool set_variables(spank_t spank, FILE *file, uint32_t rank)
{
    char *line = NULL;
    size_t size = 0;
    bool any = next_line(file, &line, &size);
    bool refused = any && strcmp(line, REFUSED) == 0;
    unsigned gcds = any && begins_with(line, GCDS_PREFIX) ? positive_number(line + strlen(GCDS_PREFIX)) : 0;
    bool understood = gcds > 0, ipuof = false;

    while (understood && next_line(file, &line, &size)) {
        /* A job with an allocation and no partition has no such line: there these variables are its user's own. */
        if (!ipuof && begins_with(line, IPUOF_PREFIX)) {
            unset_ipuof(spank);
            ipuof = true;
        }
        understood = set_variable(spank, line, rank % gcds);
    }
    if (refused)
        slurm_error("ipu: this job got no IPUs here; Slurm queues it again or cancels it");
    else if (!understood)
        slurm_error("ipu: the file that says which IPUs this job has is not understood; tell your administrator");
    free(line);
    return understood;
}

/* Whether this step runs what the job was submitted with: its options are those of the job. */
static bool has_the_options_of_its_job(spank_t spank)
{
    uint32_t step;

    return spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS
           && (step == SLURM_BATCH_SCRIPT || step == SLURM_INTERACTIVE_STEP);
}

/* Tell who asks for IPUs in a job that is there, once for each step, that the job keeps what it has. */
static void tell_what_it_keeps(spank_t spank, uint32_t rank, bool is_ipu_job)
{
    char *asked = NULL, has[NUMBER_DIGITS + 1] = "";

    if (rank != 0 || has_the_options_of_its_job(spank)
        || spank_option_getopt(spank, &OPTIONS[IPUS], &asked) != ESPANK_SUCCESS || asked == NULL
        || positive_number(asked) == 0)
        return;
    if (!is_ipu_job)
        slurm_spank_log("ipu: --ipus=%s changes nothing here: this job has no IPUs; submit a new one for that", asked);
    else if (spank_getenv(spank, IPUS_NAME, has, sizeof has) == ESPANK_SUCCESS
             && positive_number(has) != positive_number(asked))
        slurm_spank_log("ipu: --ipus=%s changes nothing here: this job keeps its %s IPUs; submit a new one for that",
                        asked, has);
}

/* Give each task the variables of its GCD, and nothing that was left over or made up. Slurm goes on after any error
 * that is not negative, so ESPANK_ERROR would not do. */
int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
    uint32_t job, rank;
    char path[4096];
    FILE *file;
    int descriptor;
    bool done;

    if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS
        || spank_get_item(spank, S_TASK_GLOBAL_ID, &rank) != ESPANK_SUCCESS)
        return SLURM_ERROR;
    unset_prefix(spank, OWN_PREFIX);
    unset_prefix(spank, OPTION_PREFIX);

    snprintf(path, sizeof path, "%s/%u.env", argument("run", argc, argv), job);
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT) {
        unset_ipuof(spank);
        tell_what_it_keeps(spank, rank, false);
        return SLURM_SUCCESS;
    }
    if (descriptor < 0 || !by_root(descriptor) || (file = fdopen(descriptor, "r")) == NULL) {
        slurm_error("ipu: %s is not a file of root that only root can write; tell your administrator", path);
        if (descriptor >= 0)
            close(descriptor);
        return SLURM_ERROR;
    }
    done = set_variables(spank, file, rank);
    fclose(file);
    if (done)
        tell_what_it_keeps(spank, rank, true);
    return done ? SLURM_SUCCESS : SLURM_ERROR;
}
