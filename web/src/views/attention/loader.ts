// Loader: asks the source for answers that never change, keeps the newest of them, and gives up what nobody waits for.
import type { Arrays } from '../../data/safetensors';
import type { Source } from '../../data/source';

import type { Request } from './api';

interface Flight {
  promise: Promise<Arrays>;
  controller: AbortController;
}

function bytesOf(arrays: Arrays): number {
  let bytes = 0;
  for (const array of arrays.arrays.values()) bytes += array.bytes.byteLength;
  return bytes;
}

export class Loader {
  private readonly kept = new Map<string, Arrays>(); // the one used longest ago is the first
  private readonly flights = new Map<string, Flight>();
  private keptBytes = 0;

  constructor(
    readonly source: Source,
    private readonly limitBytes = 48 << 20,
  ) {}

  peek(request: Request): Arrays | undefined {
    const found = this.kept.get(request.address);
    if (found) {
      this.kept.delete(request.address);
      this.kept.set(request.address, found);
    }
    return found;
  }

  arrays(request: Request): Promise<Arrays> {
    const found = this.peek(request);
    if (found) return Promise.resolve(found);
    const flying = this.flights.get(request.address);
    if (flying) return flying.promise;
    const controller = new AbortController();
    const promise = this.fetch(request, controller.signal);
    this.flights.set(request.address, { promise, controller });
    return promise;
  }

  /** Asks for `wanted`, then for what is likely wanted next; what is under way for something else is given up. */
  async want(wanted: Request, next: readonly Request[] = []): Promise<Arrays> {
    this.giveUpAllBut([wanted, ...next]);
    const answer = await this.arrays(wanted);
    for (const request of next) {
      // Nobody waits for these: when one fails, the next caller requests it again and gets the error.
      if (!this.kept.has(request.address)) this.arrays(request).catch(() => undefined);
    }
    return answer;
  }

  /** Until nothing is under way; what fails has been told to who asked for it. */
  async idle(): Promise<void> {
    while (this.flights.size > 0) await Promise.allSettled([...this.flights.values()].map((flight) => flight.promise));
  }

  giveUpAllBut(requests: readonly Request[]): void {
    const wanted = new Set(requests.map((request) => request.address));
    for (const [address, flight] of this.flights) {
      if (wanted.has(address)) continue;
      this.flights.delete(address);
      flight.controller.abort();
    }
  }

  private async fetch(request: Request, signal: AbortSignal): Promise<Arrays> {
    try {
      const answer = await this.source.arrays(request.path, request.parameters, signal);
      this.keep(request.address, answer);
      return answer;
    } finally {
      if (this.flights.get(request.address)?.controller.signal === signal) this.flights.delete(request.address);
    }
  }

  private keep(address: string, answer: Arrays): void {
    this.kept.set(address, answer);
    this.keptBytes += bytesOf(answer);
    for (const [oldest, arrays] of this.kept) {
      if (this.keptBytes <= this.limitBytes || oldest === address) break;
      this.kept.delete(oldest);
      this.keptBytes -= bytesOf(arrays);
    }
  }
}
