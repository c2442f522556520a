# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drift report as JUnit XML: one test case for each device and thing that was looked at. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from .._reports.wording import differences_of

Thing = tuple[str, str]

COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
# XML 1.0 has no way to write these.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_of(report: Mapping[str, Any]) -> str:
    """One suite a device; what drifted has failed, what is ignored is skipped, an unseen device is an error."""
    suites = Element("testsuites", name="drift")
    unseen = {each["device"]: each["message"] for each in report["unseen"]}
    drifted, ignored = _by_thing([*report["steps"], *report["findings"]]), _by_thing(report["ignored"])
    devices = dict.fromkeys([*report["looked_at"], *(device for device, _thing in (*drifted, *ignored)), *unseen])
    for device in devices:
        cases = list(_cases(report, device, drifted, ignored))
        suite = SubElement(suites, "testsuite", name=device, timestamp=report["made"].rstrip("Z"))
        for (kind, name), found, because in cases:
            case = SubElement(suite, "testcase", classname=f"{device}.{kind}", name=_written(name))
            _verdict(case, found, because)
        if device in unseen:
            case = SubElement(suite, "testcase", classname=device, name="could be looked at")
            SubElement(case, "error", message=_written(unseen[device]))
        for attribute, tag in COUNTED.items():
            suite.set(attribute, str(len(list(suite.iter(tag)))))
    return tostring(suites, encoding="unicode") + "\n"


def _by_thing(drift: list[Mapping[str, Any]]) -> dict[tuple[str, Thing], list[Mapping[str, Any]]]:
    found: dict[tuple[str, Thing], list[Mapping[str, Any]]] = {}
    for each in drift:
        found.setdefault((each["device"], (each["kind"], each["name"])), []).append(each)
    return found


def _cases(
    report: Mapping[str, Any], device: str, drifted: Mapping[Any, Any], ignored: Mapping[Any, Any]
) -> Iterator[tuple[Thing, list[Mapping[str, Any]], str]]:
    """Each thing of a device with the drift that counts, or why it does not."""
    seen = [(kind, name) for kind, names in report["looked_at"].get(device, {}).items() for name in names]
    found = [thing for where, thing in (*drifted, *ignored) if where == device]
    for thing in dict.fromkeys([*seen, *found]):
        because = [f"{each['ignored_because']} (until {each['until']})" for each in ignored.get((device, thing), [])]
        yield thing, drifted.get((device, thing), []), "; ".join(dict.fromkeys(because))


def _verdict(case: Element, drifted: list[Mapping[str, Any]], because: str) -> None:
    if drifted:
        reasons = "; ".join(dict.fromkeys(map(_reason, drifted)))
        failure = SubElement(case, "failure", message=_written(reasons))
        failure.text = _written("\n".join(_difference(each) for drift in drifted for each in differences_of(drift)))
    elif because:
        SubElement(case, "skipped", message=_written(because))


def _reason(drift: Mapping[str, Any]) -> str:
    """Why a step is due, or what a finding says."""
    if "finding" in drift:
        return f"{drift['finding']}; {drift['remedy']}"
    return f"{drift['action']}: {drift['reason']}"


def _difference(difference: Any) -> str:
    return "\n".join(difference.lines) or f"{difference.field}: {difference.before} -> {difference.after}"


def _written(text: str) -> str:
    return UNWRITABLE.sub("?", text)
