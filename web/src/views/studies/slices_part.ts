// The objective against each parameter.
import { h, replace } from '../../draw/dom';
import { rankColour } from '../../draw/colours';
import { keepingFocus } from '../../draw/focus';
import { count } from '../../draw/numbers';
import { panel, type ChooseTrial, type StudyPart, type StudyShown } from './part';
import { trialShape } from './states';
import { metricNumber, metricScale, parameterNumber, parameterScale, trialWords } from './trials';
import { XyPlot } from './xy_plot';

const FIRST = 12; // so many parameters are shown until somebody asks for all

export class SlicesPart implements StudyPart {
  readonly element: HTMLElement;
  private readonly grid = h('div', { class: 'slices' });
  private readonly more = h('button', { hidden: true, onclick: () => this.showAll() });
  private readonly plots = new Map<string, XyPlot>();
  private all = false;
  private shown: StudyShown | null = null;

  constructor(private readonly choose: ChooseTrial) {
    this.element = panel('Slices', 'Each trial by the value of one parameter.', this.grid, this.more);
  }

  show(shown: StudyShown): void {
    this.shown = shown;
    this.element.hidden = !shown.answer.trials.some((row) => Number.isFinite(metricNumber(row, shown.metric)));
    if (this.element.hidden) return;
    const names = Object.keys(shown.answer.spec.parameters);
    const wanted = this.all ? names : names.slice(0, FIRST);
    if (wanted.some((name) => !this.plots.has(name))) keepingFocus(this.grid, () => this.make(wanted));
    this.more.hidden = wanted.length === names.length;
    replace(this.more, `Show all ${count(names.length)} parameters`);
    const y = metricScale(shown.answer.trials, shown.metric, shown.answer.spec.metrics[shown.metric], shown.log);
    for (const name of wanted) {
      const spec = shown.answer.spec.parameters[name]!;
      const marks = shown.rows.map((row) => ({
        id: String(row.number), x: parameterNumber(spec, row.values[name]), y: metricNumber(row, shown.metric), shape: trialShape(row.state),
        colour: ({ dark }: { dark: boolean }) => rankColour(shown.ranks.get(row.number) ?? NaN, dark), label: () => trialWords(row, shown.metric),
      }));
      this.plots.get(name)!.show({ x: parameterScale(spec), y, xTitle: name, yTitle: shown.metric, chosen: shown.chosen, marks: marks.filter((mark) => Number.isFinite(mark.x) && Number.isFinite(mark.y)) });
    }
  }

  destroy(): void {
    for (const plot of this.plots.values()) plot.destroy();
  }

  private make(names: readonly string[]): void {
    for (const name of names) if (!this.plots.has(name)) this.plots.set(name, new XyPlot(`Slice of ${name}`, this.choose, 'small'));
    replace(this.grid, ...names.map((name) => this.plots.get(name)!.element));
  }

  private showAll(): void {
    this.all = true;
    if (this.shown) this.show(this.shown);
  }
}
