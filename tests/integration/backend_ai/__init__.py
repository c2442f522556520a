# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
