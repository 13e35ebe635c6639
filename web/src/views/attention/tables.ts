// Tables of numbers: what a picture shows, for reading.
import { h } from '../../draw/dom';

export function tableOf(caption: string, heads: readonly string[], rows: readonly (readonly (string | Node)[])[]): HTMLElement {
  return h(
    'div', { class: 'at-table', tabindex: 0, role: 'region', 'aria-label': caption },
    h('table', {}, h('caption', {}, caption), h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, cell)))))),
  );
}
