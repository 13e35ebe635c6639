// Source: where views get their data. The address space is that of the server's API below /api/v1, whoever answers:
// the server, an archive inside a one-file page, or the kernel of a notebook.
import type { Arrays } from './safetensors';

export type Parameters = Record<string, string | number | undefined>;

/** Something happened to a run; the receiver requests the data again. */
export interface Notice {
  /** Its id; "" when everything may have changed. */
  run: string;
  /** Grows with each change. */
  version: number;
  kind: 'steps' | 'rules' | 'state' | 'runs';
  last_step?: number;
}

export interface GivenFile {
  name: string;
  data: Blob;
}

export interface Source {
  /** Throws SourceError. */
  json<T>(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<T>;
  arrays(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<Arrays>;
  /** Only with permission to act; throws SourceError of code "permission denied" otherwise. */
  post<T>(path: string, body: unknown): Promise<T>;
  /** Are there files to be saved? Only a server makes them. */
  readonly givesFiles: boolean;
  file(path: string, parameters?: Parameters): Promise<GivenFile>;
  /** Calls until the returned function is called. Sources that never change never call. */
  notices(listener: (notice: Notice) => void): () => void;
}

export class SourceError extends Error {
  constructor(
    /** The code's words: "not found", "invalid argument", ... or "unreachable". */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** "/runs/1f/series?of=mean&tensors=2" with the parameters in the order of their names: one address, one text. */
export function addressOf(path: string, parameters: Parameters = {}): string {
  const parts = Object.entries(parameters)
    .filter((entry): entry is [string, string | number] => entry[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}
