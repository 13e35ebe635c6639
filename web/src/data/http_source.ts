// HttpSource: the server as a source.
import { Key } from './key';
import { NoticeFeed } from './notice_feed';
import { decodeArrays, type Arrays } from './safetensors';
import { addressOf, SourceError, type GivenFile, type Notice, type Parameters, type Source } from './source';

type Fetch = (address: string, init?: RequestInit) => Promise<Response>;

/** GET /about. */
export interface Session {
  version: string;
  /** May the page act on trainings? */
  actions_allowed: boolean;
  /** The folder of runs, or the run, that the server shows. */
  place: string;
  /** What it shows beside the runs: "jobs", "experiments". */
  areas: string[];
}

// A request of another site's cannot have this header without our leave.
const HEADERS = { 'X-Trainwarden': '1' };
/** The run that an answer is of; in a request the run that is meant. */
const RUN = 'X-Trainwarden-Run';
/** An answer that was asked for ahead and waited longer than this is old. */
const AHEAD_MS = 3000;

export class HttpSource implements Source {
  readonly feed: NoticeFeed;
  private readonly key: Key;
  /** By id: which run of that name was opened. A different run that has the name now is refused until `follow`. */
  private readonly identities = new Map<string, string>();
  private readonly fetcher: Fetch;
  /** By address. */
  private readonly ahead = new Map<string, { sentMs: number; response: Promise<Response | undefined> }>();

  constructor(
    private readonly base = './api/v1',
    fetcher: Fetch = (address, init) => fetch(address, init),
  ) {
    this.key = new Key(`trainwarden key ${location.pathname}${base}`);
    this.fetcher = (address, init = {}) => fetcher(address, { ...init, credentials: 'omit', headers: { ...this.bearer(), ...(init.headers as object) } });
    this.feed = new NoticeFeed(base, this.fetcher);
  }

  async json<T>(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<T> {
    const response = await this.ask(addressOf(path, parameters), signal ? { signal } : {});
    return (await response.json()) as T;
  }

  async arrays(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<Arrays> {
    const response = await this.ask(addressOf(path, parameters), signal ? { signal } : {});
    return decodeArrays(await response.arrayBuffer());
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    const headers = { 'Content-Type': 'application/json' };
    const response = await this.ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /** By a request of ours, because the browser's own could not show the key. */
  async file(path: string, parameters?: Parameters): Promise<GivenFile> {
    const response = await this.ask(addressOf(path, parameters), {});
    return { name: fileNameIn(response.headers.get('Content-Disposition')), data: await response.blob() };
  }

  get givesFiles(): boolean {
    return true;
  }

  notices(listener: (notice: Notice) => void): () => void {
    return this.feed.listen(listener);
  }

  /** From here on requests go to the runs that have their names now. */
  follow(): void {
    this.identities.clear();
  }

  /**
   * With the token that `trainwarden serve` printed, or, without one, with that of an earlier visit of this browser. What is
   * certain to be asked for next, `ahead`, is asked for at once: who asks later finds it under way.
   */
  async open(token?: string, ahead: readonly string[] = []): Promise<Session> {
    await this.key.find(token);
    for (const address of ahead) this.askAhead(address);
    try {
      const session = await this.json<Session>('/about');
      this.key.keep();
      return session;
    } catch (error) {
      if (error instanceof SourceError && error.code === 'no session') this.key.drop();
      throw error;
    }
  }

  private bearer(): Record<string, string> {
    return this.key.value === undefined ? {} : { Authorization: `Bearer ${this.key.value}` };
  }

  private askAhead(address: string): void {
    const response = this.fetcher(this.base + address, { headers: HEADERS }).then((answer) => (answer.ok ? answer : undefined), () => undefined);
    this.ahead.set(address, { sentMs: performance.now(), response });
  }

  /** Undefined: it is to be asked for. */
  private async takeAhead(address: string): Promise<Response | undefined> {
    const sent = this.ahead.get(address);
    this.ahead.delete(address);
    return sent && performance.now() - sent.sentMs < AHEAD_MS ? sent.response : undefined;
  }

  private async ask(address: string, init: RequestInit): Promise<Response> {
    const run = runIn(address);
    const identity = run === null ? undefined : this.identities.get(run);
    const headers = { ...HEADERS, ...(identity === undefined ? {} : { [RUN]: identity }), ...(init.headers as object) };
    let response: Response;
    try {
      response = (await this.takeAhead(address)) ?? (await this.fetcher(this.base + address, { ...init, headers }));
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new SourceError('unreachable', 'The server does not answer. Is `trainwarden serve` still running?');
    }
    if (!response.ok) throw await errorOf(response);
    const found = response.headers.get(RUN);
    if (run !== null && found !== null && !this.identities.has(run)) this.identities.set(run, found);
    return response;
  }
}

function runIn(address: string): string | null {
  return /^\/runs\/([^/?]+)/.exec(address)?.[1] ?? null;
}

/** "attachment; filename*=UTF-8''a%20b.npy" (RFC 8187). */
function fileNameIn(disposition: string | null): string {
  const found = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '');
  return found ? decodeURIComponent(found[1]!) : 'trainwarden';
}

async function errorOf(response: Response): Promise<SourceError> {
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    // The server's words are for programs; the page has a button for what they ask for.
    if (error.code === 'replaced') return new SourceError(error.code, 'This belongs to a run that was removed.');
    return new SourceError(error.code, error.message);
  } catch {
    return new SourceError('internal', `The server answered ${response.status} ${response.statusText} without saying why.`);
  }
}

/** "#t=TOKEN", before a link if there is one: "#t=TOKEN/run/first". */
export function tokenIn(hash: string): { token: string | undefined; rest: string } {
  const found = /^#t=([A-Za-z0-9_-]+)(.*)$/s.exec(hash);
  return found ? { token: found[1], rest: found[2] ? `#${found[2]}` : '' } : { token: undefined, rest: hash };
}
