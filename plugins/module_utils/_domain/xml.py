# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interfaces of a domain in libvirt's XML. Pure."""

from __future__ import annotations

import re
from typing import Any, Mapping
from xml.etree import ElementTree

from .._plan.converge import DeviceError
from .._plan.steps import Fields

# libvirt keeps an alias that begins with "ua-" as it is given: by it a port is known for ours, and whose it is.
_MARK = "ua-ipu-"
_BRIDGE, _FUNCTION = "bridge ", "function "
# Of what Nova writes into the definitions of its machines; a version follows.
_NOVA = "{http://openstack.org/xmlns/libvirt/nova/"


def bridge(name: str) -> str:
    """What a port is plugged into, where that is a bridge of Open vSwitch."""
    return f"{_BRIDGE}{name}"


def function(pci: str) -> str:
    """The same where it is a virtual function with a PCI address."""
    return f"{_FUNCTION}{pci}"


def interface_xml(vpod: str, fields: Fields) -> str:
    """The interface, as virsh takes it to plug it in or to unplug it."""
    through = str(fields["through"])
    is_function = through.startswith(_FUNCTION)
    root = ElementTree.Element("interface", type="hostdev" if is_function else "bridge")
    if is_function:
        root.set("managed", "yes")
        domain, bus, slot, number = re.split("[:.]", through[len(_FUNCTION) :])
        address = {"domain": f"0x{domain}", "bus": f"0x{bus}", "slot": f"0x{slot}", "function": f"0x{number}"}
        ElementTree.SubElement(ElementTree.SubElement(root, "source"), "address", {"type": "pci", **address})
    else:
        ElementTree.SubElement(root, "source", bridge=through[len(_BRIDGE) :])
        ElementTree.SubElement(root, "virtualport", type="openvswitch")
        ElementTree.SubElement(root, "model", type="virtio")
        if fields["mtu"]:
            ElementTree.SubElement(root, "mtu", size=str(fields["mtu"]))
    ElementTree.SubElement(root, "mac", address=fields["mac"])
    # Also for a function: without it, libvirt would take it out of its VLAN.
    ElementTree.SubElement(ElementTree.SubElement(root, "vlan"), "tag", id=str(fields["vlan"]))
    ElementTree.SubElement(root, "alias", name=_MARK + _encoded(vpod))
    return ElementTree.tostring(root, encoding="unicode")


def ports_in(domain_xml: str, tags: Mapping[str, int] | None = None) -> dict[str, Fields]:
    """The ports of vPODs in a domain's XML, by vPOD.

    Args:
        tags: Open vSwitch's VLANs by port, for a domain that runs: what counts is what is done with its frames.

    Raises:
        DeviceError: it is not understood.
    """
    found: dict[str, Fields] = {}
    for interface in _interfaces(domain_xml):
        alias = _attribute(interface, "alias", "name")
        if alias.startswith(_MARK):
            found[_decoded(alias[len(_MARK) :])] = _fields(interface, tags)
    return found


def macs_in(domain_xml: str) -> list[str]:
    """The MAC addresses of all interfaces. Raises DeviceError: it is not understood."""
    return [_attribute(interface, "mac", "address").lower() for interface in _interfaces(domain_xml)]


def is_novas(domain_xml: str) -> bool:
    """Whether Nova made the domain. Raises DeviceError: it is not understood."""
    return any(each.tag.startswith(_NOVA) for each in _root(domain_xml).findall("./metadata/*"))


def _interfaces(domain_xml: str) -> list[ElementTree.Element]:
    return _root(domain_xml).findall("./devices/interface")


def _root(domain_xml: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(domain_xml)
    except ElementTree.ParseError as error:
        raise DeviceError(f"virsh dumpxml printed something that is not understood: {error}") from None


def _fields(interface: ElementTree.Element, tags: Mapping[str, int] | None) -> Fields:
    fields: dict[str, Any] = {
        "mac": _attribute(interface, "mac", "address").lower(),
        "vlan": int(_attribute(interface, "vlan/tag", "id") or 0),
        "mtu": int(_attribute(interface, "mtu", "size") or 0),
    }
    if interface.get("type") == "hostdev":
        pci = interface.find("source/address")
        numbers = [int((pci.get(part) if pci is not None else "") or "0", 16) for part in _PCI]
        return {**fields, "through": function("{:04x}:{:02x}:{:02x}.{:x}".format(*numbers))}
    fields["through"] = bridge(_attribute(interface, "source", "bridge"))
    if tags is not None:
        fields["vlan"] = tags.get(_attribute(interface, "target", "dev"), 0)
    return fields


_PCI = ("domain", "bus", "slot", "function")


def _attribute(interface: ElementTree.Element, path: str, name: str) -> str:
    element = interface.find(path)
    return "" if element is None else element.get(name, "")


def _encoded(name: str) -> str:
    """A name in characters that an alias may have."""
    return re.sub("[^A-Za-z0-9-]", lambda found: f"_{ord(found[0]):02x}", name)


def _decoded(text: str) -> str:
    return re.sub("_([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), text)
