// RunsBar: which runs are drawn over each other, and in which colour.
import { categoryOf } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { themeOf } from '../../draw/theme';

export class RunsBar {
  readonly element = h('ul', { class: 'scalar-runs', 'aria-label': 'Runs in these charts', hidden: true });

  constructor(private readonly keep: (others: string[]) => void) {}

  /** Without others there is nothing to say. */
  show(own: string, others: readonly string[]): void {
    this.element.hidden = others.length === 0;
    const { dark } = themeOf(this.element);
    const items = [own, ...others].map((run, i) => {
      const mark = h('span', { 'aria-hidden': 'true' }, '━ ');
      mark.style.color = dark ? categoryOf(i).dark : categoryOf(i).light;
      const leave = h('button', { class: 'quiet', 'aria-label': `Without ${run}`, title: 'Leave it out', onclick: () => this.keep(others.filter((each) => each !== run)) }, '✕');
      return h('li', {}, mark, run, i > 0 && leave);
    });
    replace(this.element, ...items);
  }
}
