// The numbers of a run, asked for in as few requests as may be.
import { idOf } from '../../data/ids';
import type { Arrays } from '../../data/safetensors';
import type { Parameters, Source } from '../../data/source';
import { seriesOf, toldApart, type Series } from '../series';
import { TrainSteps, type RunSteps } from './axis';
import type { Choice } from './choice';
import type { LabelledRun } from '../run_groups';
import type { Output } from './reading';

const CHOICES_AGE_MS = 10_000; // tensors come seldom
const MOST_AT_ONCE = 64; // the server's limit

export interface Question {
  of: string | undefined;
  mode: string | undefined;
  from: number | undefined;
  to: number | undefined;
  buckets: number;
}

export class SeriesFeed {
  choices: readonly Choice[] = [];
  train: TrainSteps | null = null;
  /** What the last answer says of the program's output. */
  output: Output | null | undefined;
  private choicesMs = -Infinity;
  private labels = new Map<string, Record<string, string>>();
  private labelsMs = -Infinity;
  private knownThere = new Map<string, Set<string>>();

  constructor(
    private readonly source: Source,
    private readonly run: string,
    private readonly signal: AbortSignal,
  ) {}

  /** What can be drawn. True: asked for anew. */
  async look(): Promise<boolean> {
    const isOld = performance.now() - this.choicesMs > CHOICES_AGE_MS || this.choices.length === 0;
    if (!isOld) return false;
    this.choices = (await this.source.json<{ tensors: Choice[] }>(`/runs/${this.run}/series/choices`, {}, this.signal)).tensors;
    this.choicesMs = performance.now();
    return true;
  }

  /** Of these choices, by mode unless one is asked for. The same answer says how steps are counted. */
  async series(ids: readonly string[], question: Question): Promise<Series[]> {
    const series = await this.ask(this.run, ids, question, (answer) => this.note(answer));
    this.train ??= await this.askTrain();
    return series;
  }

  /** The same of other runs, as far as they have them. */
  async seriesOfOthers(runs: readonly string[], ids: readonly string[], question: Question): Promise<Series[]> {
    const all = await Promise.all(runs.map((run, i) => this.seriesOfOther(run, i + 1, ids, question)));
    return all.flat();
  }

  /** The labels of all runs: what they can be grouped by. A source that has no list of runs has none. */
  async lookAtRuns(): Promise<void> {
    if (performance.now() - this.labelsMs < CHOICES_AGE_MS) return;
    this.labelsMs = performance.now();
    const { runs } = await this.source.json<{ runs: { name: string; labels?: Record<string, string> }[] }>('/runs', {}, this.signal);
    this.labels = new Map(runs.map(({ name, labels }) => [name, labels ?? {}]));
  }

  labelled(runs: readonly string[]): LabelledRun[] {
    return runs.map((name) => ({ name, labels: this.labels.get(name) ?? {} }));
  }

  private async seriesOfOther(run: string, place: number, ids: readonly string[], question: Question): Promise<Series[]> {
    const there = await this.choicesOf(idOf(run));
    const shared = ids.filter((id) => there.has(id));
    const series = await this.ask(idOf(run), shared, question);
    return series.map((each) => ({ ...each, words: { ...each.words, id: `${each.words.id}@${place}` }, other: { run, place, of: each.words.id } }));
  }

  private note(answer: Arrays): void {
    this.output = answer.json<Output | null>('output');
    const modes = answer.json<RunSteps['modes']>('modes');
    if (modes) this.train = new TrainSteps({ modes });
  }

  /** A saved page keeps answers that do not say it. */
  private async askTrain(): Promise<TrainSteps | null> {
    return this.source.json<RunSteps>(`/runs/${this.run}/steps`, {}, this.signal).then((answer) => new TrainSteps(answer), () => null);
  }

  private async ask(run: string, ids: readonly string[], { of, mode, from, to, buckets }: Question, note?: (answer: Arrays) => void): Promise<Series[]> {
    const parameters: Parameters = { of, mode, by: mode ? undefined : 'mode', from, to, buckets, with: note && 'modes' };
    const parts: string[][] = [];
    for (let i = 0; i < ids.length; i += MOST_AT_ONCE) parts.push(ids.slice(i, i + MOST_AT_ONCE));
    const answers = await Promise.all(parts.map((part) => this.source.arrays(`/runs/${run}/series`, { tensors: part.join(','), ...parameters }, this.signal)));
    if (answers.length > 0) note?.(answers[0]!);
    return toldApart(answers.flatMap(seriesOf));
  }

  private async choicesOf(run: string): Promise<Set<string>> {
    const known = this.knownThere.get(run);
    if (known) return known;
    const { tensors } = await this.source.json<{ tensors: Choice[] }>(`/runs/${run}/series/choices`, {}, this.signal);
    const ids = new Set(tensors.map(({ id }) => id));
    this.knownThere.set(run, ids);
    return ids;
  }
}
