// When each trial ran, and where: a bar each, in the lanes of the workers.
import { duration } from '../../draw/numbers';
import { choiceScale, linearScale } from '../../draw/scales';
import { panel, type ChooseTrial, type StudyPart, type StudyShown } from './part';
import { trialColour, trialShape } from './states';
import { timeLanes, unitOfTime } from './time_lanes';
import { trialWords } from './trials';
import { XyPlot } from './xy_plot';

const LANE = 22; // CSS pixels
const MOST_LANES = 40; // higher it does not grow: lanes get thinner
const AROUND = 62; // of the axes

export class TimelinePart implements StudyPart {
  readonly element: HTMLElement;
  private readonly plot: XyPlot;

  constructor(choose: ChooseTrial) {
    this.plot = new XyPlot('Timeline', choose, 'lanes');
    this.element = panel('Timeline', 'When each trial ran, by who ran it.', this.plot.element);
  }

  show(shown: StudyShown): void {
    const { names, placed } = timeLanes(shown.rows, shown.nowMs);
    this.element.hidden = placed.length === 0;
    if (placed.length === 0) return;
    const start = Math.min(...placed.map(({ fromMs }) => fromMs));
    const span = placed.reduce((most, { toMs }) => Math.max(most, toMs), start) - start;
    const { unit, ms } = unitOfTime(span);
    this.plot.element.style.height = `${AROUND + LANE * Math.max(2, Math.min(names.length, MOST_LANES))}px`;
    this.plot.show({
      x: linearScale(0, Math.max(span, 1) / ms), y: choiceScale(names.map((name) => name || 'nobody').reverse()), left: 132, between: 16,
      xTitle: `${unit} since ${new Date(start).toLocaleString()}`, yTitle: '', chosen: shown.chosen,
      marks: placed.map(({ row, fromMs, toMs, lane }) => ({
        id: String(row.number), x: (fromMs - start) / ms, until: (toMs - start) / ms, y: names.length - 1 - lane, shape: trialShape(row.state),
        colour: (theme) => trialColour(row.state, theme), label: () => `${trialWords(row, shown.metric)}; ${duration(toMs - fromMs)}`,
      })),
    });
  }

  destroy(): void {
    this.plot.destroy();
  }
}
