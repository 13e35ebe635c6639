"""How the page looks, by light and dark, and on paper."""

STYLE = """
:root{--paper:#fff;--ink:#1b1f24;--faint:#59636e;--rule:#d1d9e0;--soft:#f3f5f8;--bar:#2a6fbb;--link:#0b57a4;
--s0:#0a62ab;--s1:#b84a00;--s2:#00765a;--s3:#8a4bb0;--s4:#a3284f;--s5:#5b6470}
@media (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e8ebef;--faint:#a3adb8;--rule:#39424c;--soft:#1e242b;
--bar:#5ea4e8;--link:#82b8f0;--s0:#6cb1f2;--s1:#ff9d5c;--s2:#43cda4;--s3:#cba0ec;--s4:#ff8fae;--s5:#b3bcc6}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1.5rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.6rem;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.5rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--rule)}
h3{font-size:1rem;margin:1.5rem 0 .25rem}
h3 small{font-weight:400;font-size:.9rem;color:var(--faint)}
p{margin:.4rem 0;max-width:44rem}
a{color:var(--link)}
dl{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:.5rem 0 1rem}
dt{font-size:.8rem;color:var(--faint)}
dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;margin:0;list-style:none;font-size:.9rem}
svg{display:block;width:100%;height:auto;margin:.5rem 0;font:12px system-ui,sans-serif}
svg text{fill:var(--ink)}
svg .tick{fill:var(--faint);font-variant-numeric:tabular-nums}
svg .name{fill:var(--faint)}
svg .end{text-anchor:end}
svg .middle{text-anchor:middle}
svg .grid{stroke:var(--rule);stroke-width:1}
svg .axis{stroke:var(--faint);stroke-width:1}
svg .bar,svg .cell{fill:var(--bar)}
svg .series{fill:none;stroke-width:2;stroke-linejoin:round}
svg line.s0,svg path.s0{stroke:var(--s0)}
svg line.s1,svg path.s1{stroke:var(--s1);stroke-dasharray:7 3}
svg line.s2,svg path.s2{stroke:var(--s2);stroke-dasharray:2 3}
svg line.s3,svg path.s3{stroke:var(--s3);stroke-dasharray:9 3 2 3}
svg line.s4,svg path.s4{stroke:var(--s4);stroke-dasharray:12 4}
svg line.s5,svg path.s5{stroke:var(--s5);stroke-dasharray:4 2}
svg circle.s0{fill:var(--s0)}svg circle.s1{fill:var(--s1)}svg circle.s2{fill:var(--s2)}
svg circle.s3{fill:var(--s3)}svg circle.s4{fill:var(--s4)}svg circle.s5{fill:var(--s5)}
.wide{overflow-x:auto;margin:.75rem 0}
.wide:focus-visible{outline:2px solid var(--link)}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--faint);padding-bottom:.25rem}
th,td{padding:.25rem .75rem;border-bottom:1px solid var(--rule);text-align:left;font-weight:400}
thead th{color:var(--faint)}
.n{text-align:right}
td.right{font-weight:700;background:var(--soft)}
td.none{color:var(--faint)}
details{margin:.25rem 0 .75rem}
summary{cursor:pointer;color:var(--link);font-size:.9rem}
.missing{border-left:4px solid var(--s1);padding-left:.75rem}
@media print{body{max-width:none;padding:0}nav,details:not([open]){display:none}section{break-inside:avoid}}
"""
