// RunsBar: which runs are drawn over each other, in which colour, and how they are grouped.
import { h, replace } from '../../draw/dom';
import { keepingFocus } from '../../draw/focus';
import { themeOf } from '../../draw/theme';
import type { GroupKey, RunGroup } from '../run_groups';
import { swatch } from './legend';
import { runStyle } from './look';
import type { Words } from './words';

export interface RunsBarShown {
  own: string;
  /** What they can be grouped by. */
  keys: readonly GroupKey[];
  /** As they are grouped. */
  groups: readonly RunGroup[] | null;
}

export class RunsBar {
  readonly element = h('div', { class: 'scalar-runs', hidden: true });
  private readonly list = h('ul', { 'aria-label': 'Runs in these charts' });
  private readonly controls = h('div', { class: 'toolbar' });

  /** `change` gets words of the link, `point` the place of the run that is pointed at. */
  constructor(
    private readonly change: (params: Record<string, string | undefined>) => void,
    private readonly point: (place: number | null) => void,
  ) {
    replace(this.element, this.controls, this.list);
  }

  /** Without others there is nothing to say. */
  show({ own, keys, groups }: RunsBarShown, { runs, group, spread }: Words): void {
    this.element.hidden = runs.length === 0;
    const runItems = () => [own, ...runs].map((run, i) => this.item(run, i, run, i > 0 && this.leave(run, runs)));
    const groupItems = (all: readonly RunGroup[]) => all.map(({ name, runs: members }, i) => this.item(`${name} · ${members.length}`, i, members.join('\n'), null));
    keepingFocus(this.list, () => replace(this.list, ...(groups ? groupItems(groups) : runItems())));
    const by = this.select('scalar-group', 'group', [['', 'nothing: a line for each run'], ...keys.map(({ word, title }): [string, string] => [word, title])], groups ? (group ?? '') : '');
    const spreads = this.select('scalar-spread', 'spread', [['', 'standard deviation'], ['range', 'Min to Max']], spread === 'range' ? 'range' : '');
    keepingFocus(this.controls, () => replace(this.controls, h('label', { for: by.id }, 'Group by', by), groups && h('label', { for: spreads.id }, 'Band', spreads),
      groups && h('span', { class: 'muted' }, 'Each line is the mean of its runs.')));
  }

  private item(text: string, place: number, title: string, button: HTMLElement | false | null): HTMLElement {
    const mark = swatch(runStyle(place), themeOf(this.element).dark);
    const [here, gone] = [() => this.point(place), () => this.point(null)];
    return h('li', { title, onpointerenter: here, onpointerleave: gone, onfocusin: here, onfocusout: gone }, mark, text, button);
  }

  private leave(run: string, others: readonly string[]): HTMLElement {
    const rest = others.filter((each) => each !== run);
    return h('button', { class: 'quiet', 'aria-label': `Without ${run}`, title: 'Leave it out', onclick: () => this.change({ runs: rest.length === 0 ? undefined : rest.join('\n') }) }, '✕');
  }

  private select(id: string, word: string, options: [value: string, text: string][], chosen: string): HTMLSelectElement {
    const select: HTMLSelectElement = h('select', { id, onchange: () => this.change({ [word]: select.value || undefined }) },
      ...options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)));
    return select;
  }
}
