/*
 * Copyright (c) The ipu.pod authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#pragma once

/* What spank_ipu.c uses of Slurm's interface, for the harness beside it. */

#include <stddef.h>

typedef struct spank_handle *spank_t;
typedef enum { ESPANK_SUCCESS, ESPANK_ERROR, ESPANK_NOSPACE } spank_err_t;
typedef enum { S_JOB_ID, S_JOB_STEPID, S_TASK_GLOBAL_ID, S_JOB_ENV } spank_item_t;
typedef int (*spank_opt_cb_f)(int val, const char *optarg, int remote);

struct spank_option {
    char *name;
    char *arginfo;
    char *usage;
    int has_arg;
    int val;
    spank_opt_cb_f cb;
};

#define SPANK_PLUGIN(name, version) const char plugin_name[] = #name;

spank_err_t spank_option_register(spank_t spank, struct spank_option *option);
spank_err_t spank_option_getopt(spank_t spank, struct spank_option *option, char **value);
spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...);
spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int size);
spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite);
spank_err_t spank_unsetenv(spank_t spank, const char *name);
void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slurm_spank_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
