import { afterEach, describe, expect, it, vi } from 'vitest';

import { type Channel, RelaySource } from './relay_source';

type Listener = (message: unknown, buffers: DataView[]) => void;

class Kernel implements Channel {
  readonly asked: { id: number; address: string }[] = [];
  private listeners: Listener[] = [];

  on(_event: string, listener: Listener): void {
    this.listeners.push(listener);
  }

  off(_event: string, listener: Listener): void {
    this.listeners = this.listeners.filter((each) => each !== listener);
  }

  send(message: unknown): void {
    this.asked.push(message as { id: number; address: string });
  }

  answer(id: number, type: string, text?: string, more: object = {}): void {
    const bytes = new TextEncoder().encode(`..${text ?? ''}`); // a buffer may begin in the middle of another
    const buffers = text === undefined ? [] : [new DataView(bytes.buffer, 2)];
    for (const listener of this.listeners) listener({ kind: 'answer', id, type, ...more }, buffers);
  }
}

afterEach(() => vi.useRealTimers());

describe('RelaySource', () => {
  it('gives each question its own answer, in whatever order they come', async () => {
    const kernel = new Kernel();
    const source = new RelaySource(kernel);
    const [a, b] = [source.json('/a', { step: 3, head: 1 }), source.json('/b')];
    expect(kernel.asked.map(({ address }) => address)).toEqual(['/a?head=1&step=3', '/b']);
    kernel.answer(2, 'json', '{"of":"b"}');
    kernel.answer(1, 'json', '{"of":"a"}');
    expect([await a, await b]).toEqual([{ of: 'a' }, { of: 'b' }]);
  });

  it('hands over errors with their code', async () => {
    const kernel = new Kernel();
    const asked = new RelaySource(kernel).arrays('/a');
    kernel.answer(1, 'error', undefined, { code: 'out of range', message: 'no such step' });
    await expect(asked).rejects.toMatchObject({ code: 'out of range', message: 'no such step' });
  });

  it('does not wait for ever, nor for what was given up', async () => {
    vi.useFakeTimers();
    const kernel = new Kernel();
    const source = new RelaySource(kernel, 1000);
    const asked = source.json('/a');
    const late = expect(asked).rejects.toMatchObject({ code: 'unreachable' });
    const controller = new AbortController();
    const dropped = expect(source.json('/b', {}, controller.signal)).rejects.toMatchObject({ name: 'AbortError' });
    controller.abort();
    await dropped;
    await vi.advanceTimersByTimeAsync(1001);
    await late;
    kernel.answer(1, 'json', '{}'); // too late: nobody minds
  });

  it('notifies of news until nobody listens', () => {
    const source = new RelaySource(new Kernel());
    const heard: number[] = [];
    const forget = source.notices((notice) => heard.push(notice.version));
    source.notify({ run: '0', version: 5, kind: 'steps' });
    forget();
    source.notify({ run: '0', version: 6, kind: 'steps' });
    expect(heard).toEqual([5]);
  });

  it('fails what waits when it is closed', async () => {
    const source = new RelaySource(new Kernel());
    const asked = expect(source.json('/a')).rejects.toMatchObject({ code: 'unreachable' });
    source.close();
    await asked;
  });
});
