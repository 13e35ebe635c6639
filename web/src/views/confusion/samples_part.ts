// The samples of the cell that is chosen: at which steps, and where in the tensors of labels they are.
import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import type { ViewContext } from '../view';

export interface SampleQuestion {
  labels: string; // ids
  predictions: string;
  mode: string | undefined;
  from: number;
  to: number;
  actual: number;
  predicted: number;
}

/** GET /runs/{run}/confusion/samples. */
interface SamplesAnswer {
  samples: { step: number; worker: string; place: number[] }[];
  more: boolean;
}

export class SamplesPart {
  readonly element = h('div', { 'data-samples': '' });
  private asked = '';
  private gone = false;

  constructor(
    private readonly context: ViewContext,
    private readonly pause_ms = 250,
  ) {}

  /** null: no cell is chosen, or one without samples. `labels` is the tensor's name, for the links. */
  show(question: SampleQuestion | null, labels: string): void {
    const key = JSON.stringify(question);
    if (key === this.asked) return;
    this.asked = key;
    if (question) setTimeout(() => void this.load(key, question, labels), this.pause_ms); // a cursor may only pass by
    else replace(this.element);
  }

  destroy(): void {
    this.gone = true;
  }

  private async load(key: string, question: SampleQuestion, labels: string): Promise<void> {
    if (this.asked !== key || this.gone) return;
    try {
      const answer = await this.context.source.json<SamplesAnswer>(`/runs/${this.context.run.id}/confusion/samples`, { ...question });
      if (this.asked === key && !this.gone) this.draw(answer, labels);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (this.asked === key && !this.gone) replace(this.element, h('p', { class: 'bad' }, error.message));
    }
  }

  private draw({ samples, more }: SamplesAnswer, labels: string): void {
    const bySteps = new Map<number, string[]>();
    for (const { step, worker, place } of samples) {
      const text = `${place.length === 1 ? place[0] : `[${place.join(', ')}]`}${worker === '' ? '' : ` of ${worker}`}`;
      bySteps.set(step, [...(bySteps.get(step) ?? []), text]);
    }
    replace(
      this.element,
      h('h3', {}, 'Samples of this cell'),
      h('ul', {}, ...[...bySteps].map(([step, places]) => h('li', {}, h('a', { href: this.context.link('tensors', { tensor: labels }, step) ?? '#' }, `step ${step}`), `: ${places.join(', ')}`))),
      more && h('p', { class: 'muted' }, 'and others'),
    );
  }
}
