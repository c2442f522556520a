/*
 * Copyright (c) The ipu.pod authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#pragma once
#define SLURM_SUCCESS 0
#define SLURM_ERROR -1
