// Tables beside a histogram.
import { h } from '../../draw/dom';
import { count, short } from '../../draw/numbers';

import { LIMITS, sharesOf } from './dtype_limits';
import type { Histograms } from './histogram_axis';

/** What would become of the step's elements in smaller types. */
export function limitsTable(all: Histograms, row: number): HTMLElement | null {
  if (row < 0 || all.lower.length === 0) return null;
  const bins = all.lower.length;
  const counts = all.counts.subarray(row * bins, (row + 1) * bins);
  const percent = (part: number) => h('td', { class: part > 0 ? 'number warn' : 'number' }, part > 0 ? `${short(100 * part, 3)} %` : 'none');
  const rows = LIMITS.map((limits) => {
    const shares = sharesOf(limits, all.lower, all.upper, counts);
    return h('tr', {}, h('th', { scope: 'row' }, limits.dtype), h('td', { class: 'number' }, short(limits.largest)), h('td', { class: 'number' }, short(limits.smallestNormal)),
      percent(shares.over), percent(shares.coarse), percent(shares.zero));
  });
  const titles = ['type', 'largest', 'smallest normal', 'would overflow', 'would lose digits', 'would become zero'];
  return h('details', { open: true }, h('summary', {}, `In smaller types, at step ${all.steps[row]} (of what is not zero, by bins)`),
    h('table', { class: 'table tn-limits' }, h('thead', {}, h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, title)))), h('tbody', {}, ...rows)));
}

/** The bins of one step. */
export function binsTable(all: Histograms, row: number, open: boolean): HTMLElement {
  const bins = all.lower.length;
  const lines = Array.from(all.lower, (low, bin) => [`${short(low)} to ${short(all.upper[bin]!)}`, all.counts[row * bins + bin]!] as const).filter(([, many]) => many > 0);
  const others = [['zero', all.zeros[row]!], ['too small for a bin', all.tiny[row]!], ['NaN', all.nan[row]!], ['+∞', all.positiveInf[row]!], ['−∞', all.negativeInf[row]!]] as const;
  const body = [...lines, ...others].map(([title, many]) => h('tr', {}, h('th', { scope: 'row' }, title), h('td', { class: 'number' }, count(many))));
  return h('details', { open, 'data-bins': true }, h('summary', {}, `Step ${all.steps[row]} as a table`),
    h('table', { class: 'table tn-bins' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'numbers'), h('th', { scope: 'col', class: 'number' }, 'elements'))), h('tbody', {}, ...body)));
}
