# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the page of a plan looks, in light, in dark, on narrow screens and on paper, and the few lines that filter it."""

from __future__ import annotations

from .rack_picture import STYLE as RACK_STYLE

LIGHT = """
  --paper: #ffffff; --ink: #16191d; --quiet: #555d66; --line: #c3c9d0; --box: #f3f5f7; --edge: #16191d;
  --link: #0b5cad; --was: #9c2f00; --now: #00593f;
"""
DARK = """
  --paper: #14171a; --ink: #e9ecef; --quiet: #a4adb6; --line: #454d55; --box: #1f2429; --edge: #e9ecef;
  --link: #7db8f2; --was: #ff9e73; --now: #62d2ae;
"""

STYLE = (
    f"""
:root {{ color-scheme: light dark; {LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
"""
    + """
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem 1.5rem 3rem; max-width: 1480px; background: var(--paper); color: var(--ink);
  font: 15px/1.45 ui-sans-serif, system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; }
a { color: var(--link); }
code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { margin: .2rem 0; white-space: pre-wrap; }
.quiet { color: var(--quiet); }
.summary { font-size: 1.25rem; font-weight: 600; margin: .7rem 0; }
.risks { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; margin: .7rem 0; list-style: none; }
.badge { display: inline-block; padding: .1rem .55rem; border: 1px solid var(--edge); border-radius: 1rem;
  font-size: .87rem; font-weight: 600; white-space: nowrap; }
.risk-0 { background: var(--paper); color: var(--ink); fill: var(--paper); stroke: var(--edge); }
.risk-1 { background: #f2b233; color: #16191d; fill: #f2b233; stroke: #f2b233; }
.risk-2 { background: #c44900; color: #ffffff; fill: #c44900; stroke: #d55e00; }
.risk-3 { background: #8a0f4d; color: #ffffff; fill: #8a0f4d; stroke: #c2186e; }
.rack .on-risk-0 { fill: var(--ink); stroke: none; background: none; }
.rack .on-risk-1 { fill: #16191d; stroke: none; background: none; }
.rack .on-risk-2, .rack .on-risk-3 { fill: #ffffff; stroke: none; background: none; }
.racks { display: flex; flex-wrap: wrap; gap: 1.4rem; }
.racks > * { flex: 1 1 620px; max-width: 720px; min-width: 0; margin: 0; }
.folded { gap: .5rem; margin-top: 1rem; }
.folded > :not([open]) { flex-basis: 200px; max-width: 340px; }
.felt { list-style: none; margin: 0; padding: 0; }
.felt li { padding: .35rem 0; border-bottom: 1px solid var(--line); }
.racks summary { cursor: pointer; padding: .3rem .5rem; background: var(--box); border: 1px solid var(--line); }
form { display: flex; flex-wrap: wrap; gap: .8rem; align-items: center; margin: 0 0 .8rem; }
form[hidden], tr[hidden] { display: none; }
select { font: inherit; padding: .15rem .3rem; color: var(--ink); background: var(--box);
  border: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
th { white-space: nowrap; }
thead th { position: sticky; top: 0; background: var(--box); font-size: .87rem; z-index: 1; }
tr:target > * { background: var(--box); box-shadow: inset 0 2px var(--ink), inset 0 -2px var(--ink); }
td.number { font-variant-numeric: tabular-nums; font-weight: 700; text-align: right; }
.device { font-weight: 600; white-space: nowrap; }
.fields { list-style: none; margin: 0; padding: 0; font: 13px/1.5 ui-monospace, monospace; }
del { color: var(--was); text-decoration: none; }
ins { color: var(--now); text-decoration: none; }
footer { margin-top: 2rem; padding-top: .6rem; border-top: 1px solid var(--line); font-size: .87rem; }
@media screen and (max-width: 900px) {
  body { padding: .9rem .8rem 2rem; }
  .cards thead { display: none; }
  .cards, .cards tbody, .cards tr, .cards td { display: block; }
  .cards tr { border: 1px solid var(--line); border-radius: 4px; margin-bottom: .7rem; padding: .3rem 0; }
  .cards td { border: 0; padding: .15rem .7rem .15rem 6.4rem; position: relative; min-height: 1.6rem; }
  .cards td.number { text-align: left; }
  .cards td::before { content: attr(data-label); position: absolute; left: .7rem; font: 13px/1.6 ui-sans-serif,
    system-ui, sans-serif; color: var(--quiet); }
  .device { white-space: normal; }
}
"""
    + RACK_STYLE
    + f"""
@media print {{
  :root {{ color-scheme: light; font-size: 10px; {LIGHT} }}
  .fields, code, pre {{ font-size: 9px; }}
  .racks {{ display: block; }}
  .rack {{ max-width: 480px; }}
  body {{ padding: 0; font-size: 10px; max-width: none; print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
  form {{ display: none; }}
  tr, figure {{ break-inside: avoid; }}
  thead th {{ position: static; }}
}}
"""
)

# The page is whole without it: it only brings the filter into view and hides the rows that were not asked for.
SCRIPT = """
const form = document.getElementById('filter'), rows = [...document.querySelectorAll('#steps tr')];
const shown = () => {
  const asked = Object.fromEntries(new FormData(form));
  const fits = row => ['device', 'risk'].every(name => !asked[name] || row.dataset[name] === asked[name]);
  rows.forEach(row => { row.hidden = !fits(row); });
  form.querySelector('output').value = `${rows.filter(fits).length} of ${rows.length} steps`;
};
if (form) {
  form.hidden = false;
  form.addEventListener('input', shown);
  addEventListener('hashchange', () => { form.reset(); shown(); });
  shown();
}
"""
