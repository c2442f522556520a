# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP for a pod: whom its server serves, and who serves DHCP on an interface already.

``hosts`` are the declared clients, ``addresses`` checks what people write; ``probe`` asks on an interface, with the
frames of ``messages``, and takes no offer. What the server is configured with is made on the control node.
"""
