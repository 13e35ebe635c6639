// Controls that say which dimensions run where; each change is one of the link.
import { h } from '../../draw/dom';

import type { Axes } from './axes';

type Change = (words: Record<string, string | undefined>) => void;

export function axesBar(shape: readonly number[], axes: Axes, withOver: boolean, change: Change): HTMLElement {
  const roles = [...(withOver ? (['over'] as const) : []), 'down' as const, 'across' as const];
  const titles = { over: 'Rows of pictures', down: 'Down', across: 'Across' };
  const selects = shape.length < 2 ? [] : roles.map((role) => {
    const select = h('select', { 'data-role': role, onchange: () => change({ [role]: select.value }) },
      ...[null, ...shape.keys()].filter((dimension) => dimension !== null || role === 'over').map((dimension) =>
        h('option', { value: dimension === null ? '' : dimension, selected: axes[role] === dimension }, dimension === null ? 'none' : `dimension ${dimension} (${shape[dimension]})`)));
    return h('label', {}, titles[role], select);
  });
  const others = shape.flatMap((size, dimension) => {
    if (dimension === axes.over || dimension === axes.down || dimension === axes.across) return [];
    const input = h('input', { type: 'number', min: 0, max: size - 1, value: axes.at[dimension]!, 'data-at': dimension, onchange: () => {
      const at = axes.at.map((index, i) => (i === dimension ? Math.min(size - 1, Math.max(0, Math.round(Number(input.value) || 0))) : index));
      change({ at: at.join(',') });
    } });
    return [h('label', {}, `Dimension ${dimension}`, input, h('span', { class: 'muted' }, `of ${size}`))];
  });
  return h('div', { class: 'toolbar' }, ...selects, ...others);
}
