// GET /compare, asked again and again until both runs are compared to their end or part.
import { SourceError, type Source } from '../../data/source';

export interface PartingAnswer {
  tensor: string;
  tensor_id: string;
  worker: string;
  form: string;
  quantity: string;
  a: number | string;
  b: number | string;
  place: number;
  difference: number | string;
  relative: number | string;
  differing: number;
  elements: number;
}

export interface FieldAnswer {
  group: string;
  name: string;
  a: string;
  b: string;
  differs: boolean;
}

export interface CompareAnswer {
  a: { id: string; name: string };
  b: { id: string; name: string };
  tolerance: number;
  fields: FieldAnswer[];
  common_tensors: number;
  only_a: { count: number; names: string[] };
  only_b: { count: number; names: string[] };
  common_steps: number;
  compared_steps: number;
  compared_tensors: number;
  damaged: number;
  last_step: number;
  cut: boolean;
  parting: { step: number; mode: string; mode_step: number; tensor_count: number; tensors: PartingAnswer[] } | null;
}

export interface CompareQuestion {
  a: string;
  b: string;
  tolerance: number;
}

/** What was compared before belongs to the sums. */
export function joined(before: CompareAnswer | null, next: CompareAnswer): CompareAnswer {
  if (!before) return next;
  return {
    ...next,
    compared_steps: before.compared_steps + next.compared_steps,
    compared_tensors: before.compared_tensors + next.compared_tensors,
    damaged: before.damaged + next.damaged,
    last_step: next.last_step < 0 ? before.last_step : next.last_step,
  };
}

const PATIENCE = 6; // times that a busy server is asked again

export class Comparing {
  private gone = false;

  constructor(
    private readonly source: Source,
    private readonly question: CompareQuestion,
    private readonly onAnswer: (answer: CompareAnswer) => void,
    private readonly pause: (milliseconds: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)),
  ) {}

  /** Reports the answer so far after each part. Throws SourceError. */
  async run(): Promise<void> {
    let sum: CompareAnswer | null = null;
    do {
      const from: number = sum ? sum.last_step + 1 : 0;
      const next = await this.patientAnswer(from);
      if (this.gone) return;
      sum = joined(sum, next);
      this.onAnswer(sum);
    } while (sum.cut && !this.gone);
  }

  stop(): void {
    this.gone = true;
  }

  private async patientAnswer(from: number): Promise<CompareAnswer> {
    for (let attempt = 0; ; ++attempt) {
      try {
        return await this.source.json<CompareAnswer>('/compare', { ...this.question, from });
      } catch (error) {
        const busy = error instanceof SourceError && error.code === 'unavailable';
        if (!busy || attempt === PATIENCE || this.gone) throw error;
        await this.pause(400 * (attempt + 1));
      }
    }
  }
}
