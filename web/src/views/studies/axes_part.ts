// The trials of a study as parallel coordinates: an axis for each parameter and each metric.
import { h, replace } from '../../draw/dom';
import { formatBrushes, isWithin, type Brushes } from '../../draw/brush';
import { count } from '../../draw/numbers';
import { ParallelCoordinates, type ParallelAxis } from '../../draw/parallel';
import type { StudyAnswer, TrialRow } from './api';
import { panel, type ChooseTrial, type StudyPart, type StudyShown } from './part';
import { metricNumber, metricScale, parameterNumber, parameterScale, trialWords } from './trials';

const PRESSES = 40;
const MOST_AXES = 24;

interface StudyAxis extends ParallelAxis {
  of(row: TrialRow): number;
}

/** Parameters, then metrics; a metric that is called like a parameter has an id of its own. */
export function axesOf({ spec, trials }: StudyAnswer, log: boolean): StudyAxis[] {
  const parameters = Object.entries(spec.parameters).map(([id, each]) => ({
    id, title: id, scale: parameterScale(each), presses: each.kind === 'choice' ? Math.max(1, each.choices?.length ?? 1) : PRESSES,
    of: (row: TrialRow) => parameterNumber(each, row.values[id]),
  }));
  const metrics = Object.entries(spec.metrics).map(([name, each]) => ({
    id: name in spec.parameters ? `metric ${name}` : name, title: name, scale: metricScale(trials, name, each, log), presses: PRESSES,
    of: (row: TrialRow) => metricNumber(row, name),
  }));
  return [...parameters.slice(0, MOST_AXES), ...metrics.slice(0, MOST_AXES)];
}

export function brushed(answer: StudyAnswer, brushes: Brushes): TrialRow[] {
  if (brushes.size === 0) return answer.trials;
  const axes = new Map(axesOf(answer, false).map((axis) => [axis.id, axis]));
  const known = new Map([...brushes].filter(([id]) => axes.has(id)));
  return answer.trials.filter((row) => isWithin(known, (id) => axes.get(id)!.of(row)));
}

export class AxesPart implements StudyPart {
  readonly element: HTMLElement;
  private readonly lines: ParallelCoordinates;
  private readonly said = h('span', { class: 'muted', role: 'status' });
  private readonly clear: HTMLButtonElement;

  constructor(choose: ChooseTrial, brush: (word: string | undefined) => void) {
    this.lines = new ParallelCoordinates('Parallel coordinates', (brushes) => brush(formatBrushes(brushes)), choose);
    this.clear = h('button', { class: 'quiet', onclick: () => brush(undefined) }, 'Show all');
    this.element = panel('Parallel coordinates', 'A line for each trial; better ones stand out. Drag on an axis to leave out the others, everywhere below.',
      this.lines.element, h('div', { class: 'toolbar' }, this.said, this.clear));
  }

  show(shown: StudyShown): void {
    this.showBrushed(shown, new Map());
  }

  showBrushed({ answer, rows, metric, ranks, log, chosen }: StudyShown, brushes: Brushes): void {
    const axes = axesOf(answer, log);
    this.lines.show({
      axes, brushes: new Map([...brushes].filter(([id]) => axes.some((axis) => axis.id === id))), chosen,
      lines: answer.trials.map((row) => ({ id: String(row.number), label: () => trialWords(row, metric), values: axes.map((axis) => axis.of(row)), rank: ranks.get(row.number) ?? NaN })),
    });
    this.clear.hidden = brushes.size === 0;
    const left = Object.keys(answer.spec.parameters).length - MOST_AXES;
    replace(this.said, `${brushes.size > 0 ? `${count(rows.length)} of ` : ''}${count(answer.trials.length)} ${answer.trials.length === 1 ? 'trial' : 'trials'}${left > 0 ? `; ${count(left)} parameters have no axis here` : ''}`);
  }

  destroy(): void {
    this.lines.destroy();
  }
}
