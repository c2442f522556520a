# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that declare VLANs, ports and quality of service of a switch. Private to the collection."""

from __future__ import annotations


class ModuleDocFragment:
    """The options of :mod:`_tor.options` that describe a switch."""

    DOCUMENTATION = r"""
options:
  vlans:
    description: The VLANs that should exist. VLANs that are not listed stay as they are.
    type: list
    elements: dict
    default: []
    suboptions:
      vlan_id: {description: "The VLAN's number, V(1) to V(4094).", type: int, required: true}
      name:
        description:
          - Its name, 1 to 32 characters without spaces.
          - A new VLAN without it gets the name that EOS gives it, for example V(VLAN0101).
        type: str
      vni:
        description:
          - The VXLAN network identifier under which the VLAN goes to other switches, V(1) to V(16777214). V(0) for
            none.
          - Needs an interface C(Vxlan1) with a C(vxlan source-interface) on the switch. That is the spine's business
            and never made here.
        type: int
      state:
        description:
          - V(absent) removes the VLAN, with its VNI, once no port names it and it has no interface of its own. While
            one does, or if O(vlans[].name) is given and it has another, it stays.
        type: str
        choices: [present, absent]
        default: present
  ports:
    description:
      - The ports that should be as described. Ports that are not listed stay as they are.
      - A routed port (C(no switchport)) is refused.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description:
          - An Ethernet port or port channel, in any of EOS's spellings, such as V(Ethernet9/1), V(Et9/1) or
            V(Port-Channel5).
          - A port channel that is not there is created. A port that is not there is refused.
        type: str
        required: true
      owner:
        description:
          - Whose port this is, V(pod), V(vpod NAME) or V(external).
          - An external port belongs to somebody else, such as OpenStack Neutron or a person. It is never touched,
            whatever else is said about it here.
        type: str
        default: pod
      description:
        description: What the port is for, in one line. An empty text removes the description.
        type: str
      mode: {description: "One VLAN without tags, or several with tags.", type: str, choices: [access, trunk]}
      vlan: {description: "The VLAN of the port while it is an access port, V(1) to V(4094).", type: int}
      native_vlan:
        description:
          - The VLAN of frames without a tag while the port is a trunk, V(1) to V(4094).
          - Other than V(1), which is EOS's default, it has to be among the allowed VLANs.
        type: int
      allowed_vlans:
        description:
          - The VLANs that the port carries while it is a trunk, as numbers and ranges such as V(100-110).
          - With O(state=merged) they are added to the list that a trunk already has. A port that is no trunk yet, or a
            trunk that carries every VLAN, gets exactly this list, and so does every port with the other states.
        type: list
        elements: str
      not_allowed_vlans:
        description:
          - VLANs that the port must not carry while it is a trunk. They are taken off the list that it already has.
        type: list
        elements: str
      mtu:
        description:
          - The largest frame payload, V(68) to V(9214) bytes. EOS's default for switched ports is V(9214).
          - V(1500), EOS's default for routed ports, cannot be set on a switched port and is refused.
          - If not given, it is kept, whatever the state.
        type: int
      enabled:
        description: Whether the port is up (C(no shutdown)). If not given, it is kept, whatever the state.
        type: bool
      channel_group:
        description:
          - The number of the port channel that the port is a member of, V(1) to V(2000). V(0) for none.
          - The port channel is a port of its own, V(Port-Channel5) for V(5). EOS takes the members' VLANs, MTU and
            spanning tree settings from there, so they are refused here.
        type: int
      lacp:
        description:
          - How the member negotiates. V(on) is a static channel without LACP.
          - A port that joins a channel without it is V(active).
        type: str
        choices: [active, passive, 'on']
      spanning_tree_edge: {description: Whether the port forwards at once (C(spanning-tree portfast))., type: bool}
      lldp: {description: Whether the port sends and receives LLDP. EOS's default is V(true)., type: bool}
      qos_profile:
        description:
          - The QoS profile of the port (C(service-profile)), from O(qos.profiles) or from the switch. Empty for none.
          - If not given, it is kept, whatever the state.
        type: str
      qos_trust:
        description:
          - Which field of a frame decides on its traffic class. EOS's default for switched ports is V(cos).
          - If not given, it is kept, whatever the state.
        type: str
        choices: [dscp, cos]
  qos:
    description:
      - Quality of service, switch-wide. Whatever is not given stays as it is. What is given is validated against each
        other and against what the switch keeps.
      - Traffic class and queue V(7) are the switch's own and cannot be given away.
    type: dict
    suboptions:
      dscp_to_traffic_class: {description: "Traffic class, V(0) to V(6), by DSCP, V(0) to V(63).", type: dict}
      traffic_class_to_tx_queue: {description: "Transmit queue, V(0) to V(6), by traffic class.", type: dict}
      profiles:
        description: QoS profiles, to be named in O(ports[].qos_profile).
        type: list
        elements: dict
        suboptions:
          name: {description: The name of the profile., type: str, required: true}
          trust: {description: "As O(ports[].qos_trust), for all ports with it.", type: str, choices: [dscp, cos]}
          queues:
            description: Transmit queues. Queues that are not listed stay as they are.
            type: list
            elements: dict
            suboptions:
              queue: {description: "The number of the queue, V(0) to V(7).", type: int, required: true}
              bandwidth_percent: {description: "Share of the link, V(1) to V(100). V(0) for EOS's default.", type: int}
              bandwidth_guaranteed_kbps: {description: Guaranteed rate in kbit/s. V(0) for none., type: int}
              priority:
                description: V(strict) (EOS's default) serves the queue before all lower ones, V(none) takes turns.
                type: str
                choices: [strict, none]
              ecn:
                description: From which length of the queue on packets are marked. An empty dictionary for never.
                type: dict
                suboptions:
                  minimum_kbytes: {description: Where marking begins., type: int}
                  maximum_kbytes: {description: Where marking reaches its maximum., type: int}
                  max_mark_probability: {description: "In percent, V(1) to V(100). If not given, V(100).", type: int}
                  weight: {description: "Of the average queue length, V(0) to V(15). If not given, V(0).", type: int}
          pfc:
            description:
              - Whether priority flow control is on. If not given, it is switched on where
                O(qos.profiles[].no_drop) names a priority.
            type: bool
          no_drop:
            description: The priorities, V(0) to V(6), that are paused and not dropped. All others are dropped.
            type: list
            elements: int
          watchdog:
            description:
              - Whether the PFC watchdog watches the no-drop queues of these ports.
              - They need O(qos.profiles[].queues[].bandwidth_guaranteed_kbps).
            type: bool
      watchdog:
        description: The switch's PFC watchdog. V(0) or an empty text is EOS's default.
        type: dict
        suboptions:
          timeout: {description: "Seconds after which a queue counts as stuck, V(0.01) to V(60).", type: float}
          recovery_time: {description: "Seconds without pause frames until it recovers, V(0.01) to V(60).", type: float}
          polling_interval: {description: "Seconds, V(0.005) to V(30), at most half of the other two.", type: float}
          action: {description: What happens to a stuck queue., type: str, choices: ['', drop, errdisable, no-drop]}
"""
