// OtherStudies: the studies that a study is compared with, asked for once each; one that goes on is asked again at times.
import { SourceError, type Source } from '../../data/source';
import { CALM_MS } from '../looking';
import type { StudiesAnswer, StudyAnswer } from './api';
import { isLive } from './trials';

export interface OtherStudy {
  answer: StudyAnswer | null;
  /** Why there is none. */
  problem: string | null;
  askedMs: number;
}

export class OtherStudies {
  /** All names but this study's own. */
  names: string[] = [];
  private readonly known = new Map<string, OtherStudy>();
  private isGone = false;

  /** `changed` is called when an answer has come. */
  constructor(
    private readonly source: Pick<Source, 'json'>,
    private readonly own: string,
    private readonly changed: () => void,
  ) {}

  async askNames(): Promise<void> {
    await this.asking(async () => {
      const { studies } = await this.source.json<StudiesAnswer>('/studies');
      this.names = studies.flatMap((row) => ('error' in row || row.study === this.own ? [] : [row.study]));
    });
  }

  /** What is known of it now; asks where there is nothing, or nothing new. */
  of(name: string, nowMs: number): OtherStudy {
    const known = this.known.get(name);
    if (known && (nowMs - known.askedMs < CALM_MS || (known.answer !== null && !isLive(known.answer)))) return known;
    const other: OtherStudy = { answer: known?.answer ?? null, problem: null, askedMs: nowMs };
    this.known.set(name, other);
    void this.asking(async () => {
      other.answer = await this.source.json<StudyAnswer>(`/studies/${encodeURIComponent(name)}`);
    }, (problem) => (other.problem = problem));
    return other;
  }

  destroy(): void {
    this.isGone = true;
  }

  /** Without `failed` a failure leaves things as they are. */
  private async asking(ask: () => Promise<void>, failed: (problem: string) => void = () => {}): Promise<void> {
    try {
      await ask();
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      failed(error.message);
    }
    if (!this.isGone) this.changed();
  }
}
