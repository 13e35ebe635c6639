// The metric over two parameters: a surface that is interpolated from complete trials, and the trials themselves.
import { cividis } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { count, short } from '../../draw/numbers';
import { ScaleBar } from '../../draw/scale_bar';
import type { Theme } from '../../draw/theme';
import type { ParameterSpec, TrialRow } from './api';
import { panel, type ChangeWords, type ChooseTrial, type StudyPart, type StudyShown } from './part';
import { trialShape } from './states';
import { surfaceOf, surfaceRange, type Surface, type SurfaceAxis, type SurfacePoint } from './surface';
import { drawSurface, surfaceImage } from './surface_picture';
import { metricNumber, metricScale, parameterNumber, parameterScale, trialWords } from './trials';
import { XyPlot } from './xy_plot';

const CELLS = 96;
const MIN_POINTS = 3; // of fewer there is no surface
const GOLDEN = (Math.sqrt(5) - 1) / 2; // its multiples spread evenly

/** Which parameters are shown: those that the link names, else the first two of `important`, then of all names. */
export function contourParameters(names: readonly string[], important: readonly string[], across?: string, up?: string): [string, string] {
  const order = [...important.filter((name) => names.includes(name)), ...names];
  const x = across !== undefined && names.includes(across) ? across : order.find((name) => name !== up)!;
  const y = up !== undefined && names.includes(up) && up !== x ? up : order.find((name) => name !== x)!;
  return [x, y];
}

export function surfaceAxis({ kind, choices }: ParameterSpec): SurfaceAxis {
  return kind === 'choice' ? { cells: Math.max(1, choices?.length ?? 1), apart: true } : { cells: CELLS, apart: false };
}

/** Complete trials that have both parameters and the metric, by their places on the axes. */
export function surfacePoints({ answer, rows, metric, log }: StudyShown, x: string, y: string): SurfacePoint[] {
  const { parameters, metrics } = answer.spec;
  const [across, up, value] = [parameterScale(parameters[x]!), parameterScale(parameters[y]!), metricScale(answer.trials, metric, metrics[metric], log)];
  return rows.filter(({ state }) => state === 'complete')
    .map((row) => ({ x: across.place(parameterNumber(parameters[x]!, row.values[x])), y: up.place(parameterNumber(parameters[y]!, row.values[y])), value: value.place(metricNumber(row, metric)) }))
    .filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y) && Number.isFinite(point.value));
}

export class ContourPart implements StudyPart {
  readonly element: HTMLElement;
  private readonly plot: XyPlot;
  private readonly across = h('select', { onchange: () => this.change({ across: this.across.value }) });
  private readonly up = h('select', { onchange: () => this.change({ up: this.up.value }) });
  private readonly bar = new ScaleBar(cividis());
  private readonly said = h('p', { class: 'muted', 'data-test': 'surface' });
  private readonly legend = h('span', { class: 'legend' });

  /** `important`: parameters of a metric, the most important first, as far as that is known. */
  constructor(
    choose: ChooseTrial,
    private readonly change: ChangeWords,
    private readonly important: (metric: string) => readonly string[],
  ) {
    this.plot = new XyPlot('Contours', choose, 'high');
    this.element = panel('Contours', 'The metric over two parameters. Each mark is a trial.',
      h('div', { class: 'toolbar' }, h('label', {}, 'Across ', this.across), h('label', {}, 'Up ', this.up), this.legend), this.plot.element, this.said);
  }

  show(shown: StudyShown): void {
    const { parameters } = shown.answer.spec;
    const names = Object.keys(parameters);
    this.element.hidden = names.length < 2;
    if (names.length < 2) return;
    const [x, y] = contourParameters(names, this.important(shown.metric), shown.params['across'], shown.params['up']);
    fill(this.across, names, x);
    fill(this.up, names.filter((name) => name !== x), y);
    const points = surfacePoints(shown, x, y);
    const surface = surfaceOf(points.length < MIN_POINTS ? [] : points, surfaceAxis(parameters[x]!), surfaceAxis(parameters[y]!));
    const under = this.picture(shown, surface);
    this.plot.show({
      x: parameterScale(parameters[x]!), y: parameterScale(parameters[y]!), xTitle: x, yTitle: y, chosen: shown.chosen, ...(under && { under }), left: 92, between: 36,
      marks: shown.rows.map((row) => ({
        id: String(row.number), x: markPlace(parameters[x]!, row, x), y: markPlace(parameters[y]!, row, y), shape: trialShape(row.state),
        colour: (theme: Theme) => (row.state === 'complete' ? theme.text : theme.muted), label: () => trialWords(row, shown.metric),
      })).filter((mark) => Number.isFinite(mark.x) && Number.isFinite(mark.y)),
    });
    replace(this.said, aboutSurface(points.length, surface));
  }

  destroy(): void {
    this.plot.destroy();
  }

  /** Its colours reach from the worst of the surface to the best, so that brighter is better. */
  private picture({ answer, metric, log }: StudyShown, surface: Surface): ((ground: Parameters<typeof drawSurface>[0]) => void) | undefined {
    const range = surfaceRange(surface);
    replace(this.legend, range && range[0] < range[1] && this.bar.element);
    if (!range) return undefined;
    const spec = answer.spec.metrics[metric];
    const falls = spec?.goal !== 'maximize';
    const [worst, best] = falls ? [range[1], range[0]] : range;
    const scale = metricScale(answer.trials, metric, spec, log);
    this.bar.show(`${metric} ${short(scale.value(worst), 3)}`, `${short(scale.value(best), 3)}, better`);
    const image = surfaceImage(surface, cividis(), (value) => (best === worst ? 0.5 : (value - worst) / (best - worst)));
    const smooth = surface.columns === CELLS && surface.rows === CELLS;
    return image ? (ground) => drawSurface(ground, image, smooth) : undefined;
  }
}

const BAND = 0.7; // of a choice's band is taken by its marks

/** Of a choice somewhere in its band, so that trials do not lie upon each other: always in the same place. */
function markPlace(spec: ParameterSpec, row: TrialRow, name: string): number {
  const value = parameterNumber(spec, row.values[name]);
  return spec.kind === 'choice' ? value + BAND * (((row.number * GOLDEN) % 1) - 0.5) : value;
}

function aboutSurface(points: number, { width }: Surface): string {
  if (points < MIN_POINTS) return `There is no surface: it needs ${MIN_POINTS} complete trials that have both parameters.`;
  const near = width === 0 ? 'each field is the mean of its trials' : `each place is the mean of the trials around it, within about ${Math.round(100 * width)} % of an axis`;
  return `The colours are interpolated from ${count(points)} complete trials: ${near}. Hatched: no trial is near.`;
}

/** The options of a select, made anew only when they are others: an open one stays as it is. */
function fill(select: HTMLSelectElement, names: readonly string[], chosen: string): void {
  const now = [...select.options].map(({ value }) => value);
  if (now.length !== names.length || names.some((name, i) => name !== now[i])) replace(select, ...names.map((name) => h('option', { value: name }, name)));
  select.value = chosen;
}
