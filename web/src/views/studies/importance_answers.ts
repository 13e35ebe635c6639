// ImportanceAnswers: asks which parameters matter, which costs the server more than all else of a study: not with each
// look at the study, but when its trials have become a tenth more.
import { SourceError, type Source } from '../../data/source';
import { numberOf } from '../../draw/numbers';
import type { ImportanceAnswer } from './api';

export interface ImportanceQuestion {
  metric: string;
  /** How many trials are complete. */
  complete: number;
  /** May there be more? */
  live: boolean;
}

const SHARE = 0.1;

/** Is it worth asking again? Of a study that has ended the last trial counts too. */
export function isStale(asked: ImportanceQuestion | null, now: ImportanceQuestion): boolean {
  if (asked === null || asked.metric !== now.metric) return true;
  const more = Math.abs(now.complete - asked.complete);
  return more > 0 && (!now.live || more >= SHARE * asked.complete);
}

/** Parameters, the most important first; of equal ones the names decide. */
export function mostImportant({ ped_anova, fanova }: ImportanceAnswer): string[] {
  const shares = ped_anova.length > 0 ? ped_anova : (fanova?.single ?? []);
  const known = shares.map(({ parameter, importance }) => ({ parameter, share: numberOf(importance) || 0 }));
  known.sort((a, b) => b.share - a.share || a.parameter.localeCompare(b.parameter, 'en', { numeric: true }));
  return known.map(({ parameter }) => parameter);
}

export class ImportanceAnswers {
  private asked: ImportanceQuestion | null = null;
  private isGone = false;
  private got: { metric: string; answer: ImportanceAnswer } | null = null;
  isAsking = false;
  /** Why there is no newer answer. */
  problem: string | null = null;

  /** `changed` is called when there is an answer or a problem, and when a question begins. */
  constructor(
    private readonly source: Pick<Source, 'json'>,
    private readonly study: string,
    private readonly changed: () => void,
  ) {}

  /** The newest answer of this metric. */
  of(metric: string): ImportanceAnswer | null {
    return this.got?.metric === metric ? this.got.answer : null;
  }

  want(now: ImportanceQuestion): void {
    if (!this.isAsking && isStale(this.asked, now)) void this.ask(now);
  }

  /** What was asked last may be asked again. */
  forget(): void {
    this.asked = null;
  }

  destroy(): void {
    this.isGone = true;
  }

  private async ask(question: ImportanceQuestion): Promise<void> {
    this.asked = question;
    this.isAsking = true;
    this.changed();
    try {
      const { metric } = question;
      this.got = { metric, answer: await this.source.json<ImportanceAnswer>(`/studies/${encodeURIComponent(this.study)}/importance`, { metric }) };
      this.problem = null;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      this.problem = error.message;
    } finally {
      this.isAsking = false;
    }
    if (!this.isGone) this.changed();
  }
}
