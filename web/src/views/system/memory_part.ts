// Memory by worker and device: its course and its peak.
import { categoryOf } from '../../draw/colours';
import { h, s } from '../../draw/dom';
import { bytes, count } from '../../draw/numbers';
import type { Theme } from '../../draw/theme';
import type { ViewContext } from '../view';
import type { MemoryPart, ProfileAnswer } from './api';
import { roundTop } from './lanes';
import { part, px, svgOf, type Drawing, type Shape } from './shapes';
import { RIGHT, TimeAxis } from './time_axis';
import { measured } from './words';

const HIGH = 110;

export function memoryName({ worker, device }: Pick<MemoryPart, 'worker' | 'device'>): string {
  return `${worker} ${device < 0 ? 'host' : `device ${device}`}`.trim();
}

export function layoutMemory(memory: readonly MemoryPart[], axis: TimeAxis, theme: Pick<Theme, 'dark' | 'text' | 'muted' | 'line'>): Drawing {
  const top = roundTop(Math.max(0, ...memory.map(({ peak_bytes, points }) => Math.max(peak_bytes ?? 0, ...points.map(([, value]) => value ?? 0)))), 'bytes');
  const y = (value: number) => 6 + HIGH * (1 - value / top);
  const shapes: Shape[] = [
    { kind: 'text', x: axis.left - 8, y: 14, text: measured(top, 'bytes').replace(/\.0+ /, ' '), fill: theme.muted, anchor: 'end', size: 11 },
    { kind: 'text', x: axis.left - 8, y: 6 + HIGH, text: '0', fill: theme.muted, anchor: 'end', size: 11 },
    { kind: 'path', d: `M${axis.left} ${6 + HIGH}H${px(axis.width - RIGHT)}`, stroke: theme.line, width: 1 },
    { kind: 'path', d: `M${axis.left} 6H${px(axis.width - RIGHT)}`, stroke: theme.line, width: 1, dash: '2 4' },
  ];
  memory.slice(0, 8).forEach(({ points }, i) => {
    const category = categoryOf(i);
    let path = '';
    let pen = 'M';
    for (const [at, value] of points) {
      if (value === null) pen = 'M';
      else {
        path += `${pen}${px(axis.x(at))} ${px(y(value))}`;
        pen = 'L';
      }
    }
    shapes.push({ kind: 'path', d: path, stroke: theme.dark ? category.dark : category.light, width: 1.5, dash: category.dash.length > 0 ? category.dash.join(' ') : undefined });
  });
  for (const tick of axis.ticks()) shapes.push({ kind: 'text', x: Math.min(Math.max(tick.x, axis.left + 20), axis.width - 28), y: HIGH + 24, text: tick.text, fill: theme.muted, anchor: 'middle', size: 11 });
  return { width: axis.width, height: HIGH + 30, title: `Memory over time. ${memory.map((each) => `${memoryName(each)}: at most ${measured(each.peak_bytes, 'bytes')}`).join(', ')}`, shapes };
}

export function memoryPart(answer: ProfileAnswer, width: number, theme: Theme, context: ViewContext): HTMLElement | undefined {
  if (answer.memory.length === 0) return undefined;
  const axis = new TimeAxis({ from: answer.run.from_unix_ms, to: answer.run.to_unix_ms }, width);
  const rows = answer.memory.map((each, i) => {
    const category = categoryOf(i);
    const { peak_step: step } = each;
    return h('tr', {},
      h('th', { scope: 'row' }, i < 8 && s('svg', { width: 18, height: 12, 'aria-hidden': 'true' }, s('path', { d: 'M0 6h18', stroke: theme.dark ? category.dark : category.light, 'stroke-width': 2.5, 'stroke-dasharray': category.dash.length > 0 ? category.dash.join(' ') : undefined })), ` ${memoryName(each)}`),
      h('td', { class: 'number' }, each.peak_bytes === null ? '–' : bytes(each.peak_bytes)),
      h('td', { class: 'number' }, step === null ? '' : h('button', { class: 'quiet', onclick: () => context.seek(step) }, `step ${count(step)}`)),
      h('td', { class: 'number' }, each.at_end_bytes === null ? '–' : bytes(each.at_end_bytes)));
  });
  return part('memory', 'Memory', svgOf(layoutMemory(answer.memory, axis, theme), theme.ground),
    h('div', { class: 'wide' }, h('table', { class: 'table compact' },
      h('thead', {}, h('tr', {}, ...['Where', 'At most', 'Then', 'At the end'].map((head, i) => h('th', { scope: 'col', class: i > 0 ? 'number' : '' }, head)))),
      h('tbody', {}, ...rows))));
}
