// NumberFeed: the newest numbers of the visible tensors, requested together and cached.
import type { TensorApi } from './api';
import { NumberTable } from './api';

export interface TensorNumbers {
  /** At which step they are, null when nothing with numbers was kept at or before the cursor. */
  step: number | null;
  number(name: string): number;
  sparkSteps: Float64Array;
  spark: Float64Array;
}

const MOST = 64; // tensors in one question
const POINTS = 24;

export class NumberFeed {
  private readonly known = new Map<string, TensorNumbers>();
  private wanted: string[] = [];
  private asking: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private step: number | null = null;
  private recordsOf: (id: string) => string = () => '';
  /** Of which records what is known is: a tensor is requested again when it has others. */
  private readonly seen = new Map<string, string>();

  constructor(
    private readonly api: TensorApi,
    private readonly arrived: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  get(id: string): TensorNumbers | undefined {
    return this.known.get(id);
  }

  /** The cursor has moved, or the run has grown. `recordsOf` tells the records at or before the cursor from any others. */
  renew(step: number | null, recordsOf: (id: string) => string): void {
    this.step = step;
    this.recordsOf = recordsOf;
    this.ask();
  }

  want(ids: string[]): void {
    this.wanted = ids;
    this.ask();
  }

  close(): void {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.timer = undefined;
    this.wanted = [];
  }

  /** A moment later: who scrolls asks for many. */
  private ask(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.askNow();
    }, 60);
  }

  private async askNow(): Promise<void> {
    const missing = this.wanted.filter((id) => this.seen.get(id) !== this.recordsOf(id)).slice(0, MOST);
    if (missing.length === 0 || this.asking) return;
    this.asking = new AbortController();
    const records = missing.map((id) => this.recordsOf(id));
    try {
      const arrays = await this.api.newest(missing, this.step, POINTS, 'mean', this.asking.signal);
      const table = new NumberTable(arrays);
      const [steps, sparkSteps, sparks] = [arrays.f64('steps'), arrays.f64('spark_steps'), arrays.f64('sparks')];
      missing.forEach((id, row) => {
        this.known.set(id, {
          step: Number.isNaN(steps[row]!) ? null : steps[row]!,
          number: (name) => table.at(row, name),
          sparkSteps: sparkSteps.subarray(row * POINTS, (row + 1) * POINTS),
          spark: sparks.subarray(row * POINTS, (row + 1) * POINTS),
        });
        // Numbers that the server left out for now are requested once more.
        if ((arrays.json<number>('pending') ?? 0) === 0) this.seen.set(id, records[row]!);
      });
      this.arrived();
    } catch (error) {
      if ((error as Error).name !== 'AbortError') this.failed(error);
      missing.forEach((id, row) => this.seen.set(id, records[row]!));
    } finally {
      this.asking = null;
    }
    this.ask();
  }
}
