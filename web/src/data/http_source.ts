// HttpSource: the server as a source.
import { NoticeFeed } from './notice_feed';
import { decodeArrays, type Arrays } from './safetensors';
import { addressOf, SourceError, type Notice, type Parameters, type Source } from './source';

type Fetch = (address: string, init?: RequestInit) => Promise<Response>;

/** GET /about. */
export interface Session {
  version: string;
  /** May the page act on trainings? */
  actions_allowed: boolean;
  /** The folder of runs, or the run, that the server shows. */
  place: string;
}

// A request of another site's cannot have this header without our leave.
const HEADERS = { 'X-Trainwarden': '1' };

export class HttpSource implements Source {
  readonly feed: NoticeFeed;

  constructor(
    private readonly base = './api/v1',
    private readonly fetcher: Fetch = (address, init) => fetch(address, init),
  ) {
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

  href(path: string, parameters?: Parameters): string | undefined {
    return this.base + addressOf(path, parameters);
  }

  notices(listener: (notice: Notice) => void): () => void {
    return this.feed.listen(listener);
  }

  /** With the token that `trainwarden serve` printed, or, without one, with the cookie of an earlier visit. */
  async open(token?: string): Promise<Session> {
    if (token !== undefined) await this.post('/session', { token });
    return this.json<Session>('/about');
  }

  private async ask(address: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await this.fetcher(this.base + address, { ...init, headers: { ...HEADERS, ...(init.headers as object) } });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new SourceError('unreachable', 'The server does not answer. Is `trainwarden serve` still running?');
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

async function errorOf(response: Response): Promise<SourceError> {
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string } };
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
