# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Backend.AI's agents on the Poplar servers of a vPOD get, so that their IPU plugin finds IPUs and networks.

Begin with ``agents``: from pods.yml to what each agent's server has, or why it cannot be. ``fits`` says what on a
server is in the way, ``agent_toml`` edits the agent's own configuration, ``wheel`` is the plugin as pip installs it.
"""
