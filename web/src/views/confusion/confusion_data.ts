// What the confusion view asks for: the tensors and steps that there are, and matrices, of which the last are kept.
import { idOf } from '../../data/ids';
import { parseOther } from '../../data/link';
import { SourceError, type Source } from '../../data/source';
import { StepRanges, type Range } from '../../data/step_ranges';
import type { RunRef, ViewState } from '../view';
import type { TensorAnswer } from './controls';
import { matrixOf, type Matrix } from './matrix';

/** GET /runs/{run}/confusion/tensors. */
export interface TensorsAnswer {
  labels: TensorAnswer | null;
  predictions: TensorAnswer | null;
  candidates: { labels: TensorAnswer[]; predictions: TensorAnswer[] };
  steps: Range[];
}

/** The matrix of the link, and that of what it compares with; or, in words, why there is none. */
export type Found = { matrix: Matrix; other: Matrix | null; why: string } | string;

interface Question {
  run: string;
  labels: string;
  predictions: string;
  mode: string | undefined;
  from: number;
  to: number;
}

const KEPT = 60; // matrices, for scrubbing back and forth

export class ConfusionData {
  steps = new StepRanges([]);
  private tensors: TensorsAnswer | null = null;
  private tensorsOf = '';
  private news = 0; // so far: an answer to what was asked before the last of them is old
  private readonly matrices = new Map<string, Matrix>();

  constructor(
    private readonly source: Source,
    private readonly run: RunRef,
  ) {}

  /** There are news: steps may have come. */
  forgetSteps(): void {
    ++this.news;
  }

  /** Throws SourceError, as find() does. */
  async choose({ params }: ViewState): Promise<TensorsAnswer> {
    const { labels, predictions, mode } = params;
    const chosen = { labels: labels && idOf(labels), predictions: predictions && idOf(predictions), mode };
    const key = JSON.stringify([this.news, chosen]);
    if (key !== this.tensorsOf || !this.tensors) {
      this.tensors = await this.source.json<TensorsAnswer>(`/runs/${this.run.id}/confusion/tensors`, chosen);
      this.tensorsOf = key;
      this.steps = new StepRanges(this.tensors.steps);
    }
    return this.tensors;
  }

  async find({ labels, predictions }: TensorsAnswer, state: ViewState): Promise<Found> {
    if (!labels || !predictions) return 'No tensors of labels and predictions were found by their names and shapes. Choose them above, or have both kept whole.';
    const span = spanIn(this.steps, state.step, state.params['span']);
    if (!span) return `No step holds both ${labels.name} and ${predictions.name} whole.`;
    const question = { run: this.run.id, labels: labels.id, predictions: predictions.id, mode: state.params['mode'], ...span };
    return { matrix: await this.matrixOf(question), other: await this.otherOf(question, state), why: whyAnother(state.step, span.to) };
  }

  private async matrixOf({ run, ...parameters }: Question): Promise<Matrix> {
    const key = JSON.stringify([run, parameters]);
    const matrix = this.matrices.get(key) ?? matrixOf(await this.source.arrays(`/runs/${run}/confusion`, parameters));
    this.matrices.delete(key);
    this.matrices.set(key, matrix);
    if (this.matrices.size > KEPT) this.matrices.delete(this.matrices.keys().next().value!);
    return matrix;
  }

  /** Of the step or the run that the link compares with; null when it compares with nothing. */
  private async otherOf(question: Question, state: ViewState): Promise<Matrix | null> {
    const other = parseOther(state.params['b']);
    if (!other) return null;
    const run = other.run === null ? this.run.id : idOf(other.run);
    const step = other.step ?? question.to;
    const span = spanIn(await this.stepsOf({ ...question, run }), step, state.params['span']);
    if (!span) throw new SourceError('not found', `${other.run ?? this.run.name} has no labels and predictions at step ${step} or before.`);
    return this.matrixOf({ ...question, run, ...span });
  }

  private async stepsOf({ run, labels, predictions, mode }: Question): Promise<StepRanges> {
    if (run === this.run.id) return this.steps;
    const answer = await this.source.json<TensorsAnswer>(`/runs/${run}/confusion/tensors`, { labels, predictions, mode });
    return new StepRanges(answer.steps);
  }
}

/** Empty when the cursor's step is the one that is counted. */
function whyAnother(cursor: number | null, shown: number): string {
  if (cursor === null || cursor === shown) return '';
  return `Step ${cursor} does not hold labels and predictions whole; ${shown < cursor ? 'the newest before it that does' : 'the first that does'} is ${shown}.`;
}

/** The steps that are counted: `span` of them ("all" for all) up to the newest at or before `step`, or to the first where
 *  all are later; null: of all. */
function spanIn(steps: StepRanges, step: number | null, span = '1'): { from: number; to: number } | null {
  const at = steps.forCursor(step);
  if (at === null) return null;
  const back = span === 'all' ? steps.count : Math.max(1, Number(span) || 1);
  return { from: steps.at(Math.max(0, steps.rank(at) - back))!, to: at };
}
