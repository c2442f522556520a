/*
 * Copyright (c) The ipu.pod authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#pragma once
#include <stdint.h>
#define SLURM_BATCH_SCRIPT 0xfffffffbu
#define SLURM_INTERACTIVE_STEP 0xfffffffau
