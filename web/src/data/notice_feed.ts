// NoticeFeed: the server's small notices. One tab of a browser reads the stream and passes it on to the others, because a browser
// opens no more than six connections to one server. Without a stream the list of runs is polled every two seconds.
import { EventStream } from './event_stream';
import { HeldNotices } from './held_notices';
import type { Notice } from './source';

/** saved: a page without a server, which gets no news. */
export type FeedState = 'connecting' | 'live' | 'polling' | 'lost' | 'saved';

type Fetch = (address: string, init: RequestInit) => Promise<Response>;

const POLL_MS = 2000;
const PATIENCE_MS = [250, 500, 1000, 2000, 5000, 10000];
const TRIES_BEFORE_POLLING = 3;

/** The stream begins with the word that anything may be new. What the page shows then was asked for just now: it is asked again later. */
const CATCH_UP_MS = 1000;

export class NoticeFeed {
  private readonly listeners = new Set<(notice: Notice) => void>();
  private readonly stateListeners = new Set<(state: FeedState) => void>();
  private readonly channel: BroadcastChannel | null;
  private readonly held = new HeldNotices((notice) => this.tell(notice));
  private stopping: AbortController | null = null;
  private lastId: string | undefined;
  private seen = new Map<string, string>(); // by run, its last row (polling)
  state: FeedState = 'connecting';

  constructor(
    private readonly base: string,
    private readonly fetcher: Fetch,
  ) {
    this.channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(`trainwarden ${base}`);
    if (this.channel) this.channel.onmessage = (message: MessageEvent<Notice | FeedState>) => this.receive(message.data);
  }

  listen(listener: (notice: Notice) => void): () => void {
    this.listeners.add(listener);
    if (!this.stopping) this.start();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.stop();
    };
  }

  onState(listener: (state: FeedState) => void): () => void {
    this.stateListeners.add(listener);
    listener(this.state);
    return () => this.stateListeners.delete(listener);
  }

  private start(): void {
    const stopping = new AbortController();
    this.stopping = stopping;
    const read = () => this.read(stopping.signal);
    const lead =
      this.channel && typeof navigator !== 'undefined' && navigator.locks
        ? navigator.locks.request(`trainwarden notices ${this.base}`, { signal: stopping.signal }, read)
        : read();
    void lead.catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error; // giving up the wait for the lead is no error
    });
  }

  private stop(): void {
    this.stopping?.abort();
    this.stopping = null;
  }

  private receive(said: Notice | FeedState): void {
    if (typeof said === 'string') this.enter(said);
    else this.held.take(said);
  }

  private tell(notice: Notice): void {
    for (const listener of [...this.listeners]) listener(notice);
  }

  private notify(notice: Notice): void {
    this.channel?.postMessage(notice);
    this.receive(notice);
  }

  private enter(state: FeedState): void {
    if (state === this.state) return;
    this.state = state;
    for (const listener of [...this.stateListeners]) listener(state);
  }

  private become(state: FeedState): void {
    this.channel?.postMessage(state);
    this.enter(state);
  }

  /** Until it is stopped. */
  private async read(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      if (await this.stream(signal)) failures = 0;
      if (signal.aborted) return;
      ++failures;
      if (failures >= TRIES_BEFORE_POLLING && (await this.poll(signal))) continue;
      await pause(PATIENCE_MS[Math.min(failures, PATIENCE_MS.length) - 1]!, signal);
    }
  }

  /** Reads the stream to its end; false when there was none. */
  private async stream(signal: AbortSignal): Promise<boolean> {
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (this.lastId !== undefined) headers['Last-Event-ID'] = this.lastId;
      const response = await this.fetcher(`${this.base}/notices`, { headers, signal, cache: 'no-store' });
      if (!response.ok || !response.body) return false;
      this.become('live');
      const reader = response.body.getReader();
      const events = new EventStream();
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        for (const event of events.push(piece.value)) {
          this.take(event.id, JSON.parse(event.data) as Notice);
        }
      }
      return true;
    } catch {
      return false; // unreachable, or cut off: the caller tries again, and the state says so
    }
  }

  private take(id: string | undefined, notice: Notice): void {
    const isFirst = this.lastId === undefined && notice.run === '';
    this.lastId = id;
    if (isFirst) setTimeout(() => this.notify(notice), CATCH_UP_MS);
    else this.notify(notice);
  }

  /** Asks once and waits until it is time for the next; false when nobody answers. */
  private async poll(signal: AbortSignal): Promise<boolean> {
    try {
      const response = await this.fetcher(`${this.base}/runs`, { signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      this.become('polling');
      const { runs } = (await response.json()) as { runs: { id: string; last_step?: number }[] };
      for (const row of runs) this.compare(row);
      await pause(POLL_MS, signal);
      return true;
    } catch {
      if (!signal.aborted) this.become('lost');
      return false;
    }
  }

  private compare(row: { id: string; last_step?: number }): void {
    const text = JSON.stringify(row);
    const before = this.seen.get(row.id);
    this.seen.set(row.id, text);
    if (before === undefined || before === text) return;
    this.notify({ run: row.id, version: Date.now(), kind: 'steps', ...(row.last_step === undefined ? {} : { last_step: row.last_step }) });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
