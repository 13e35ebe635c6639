import { describe, expect, it, vi } from 'vitest';

import { EventStream } from './event_stream';
import { HttpSource, tokenIn } from './http_source';
import type { FeedState } from './notice_feed';
import type { Notice } from './source';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('HttpSource', () => {
  it('asks below its base and says who asks', async () => {
    const fetcher = vi.fn(async () => new Response('{"runs":[]}'));
    expect(await new HttpSource('/api', fetcher).json('/runs', { q: 'a b', b: undefined, a: 1 })).toEqual({ runs: [] });
    expect(fetcher).toHaveBeenCalledWith('/api/runs?a=1&q=a%20b', { credentials: 'omit', headers: { 'X-Trainwarden': '1' } });
  });

  it('passes on what the server says of an error', async () => {
    const answer = '{"error":{"code":"not found","message":"there is no run of id \\"x\\""}}';
    const source = new HttpSource('/api', async () => new Response(answer, { status: 404 }));
    await expect(source.json('/runs/x')).rejects.toMatchObject({ code: 'not found', message: 'there is no run of id "x"' });
  });

  it('says when there is no server, and when an answer is none', async () => {
    const gone = new HttpSource('/api', () => Promise.reject(new TypeError('fetch failed')));
    await expect(gone.json('/runs')).rejects.toMatchObject({ code: 'unreachable' });
    const odd = new HttpSource('/api', async () => new Response('<html>', { status: 502, statusText: 'Bad Gateway' }));
    await expect(odd.json('/runs')).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('502') });
  });

  it('shows the token with every request, and keeps it as long as the tab', async () => {
    const shown: (string | undefined)[] = [];
    const fetcher = async (_: string, init?: RequestInit) => {
      shown.push((init?.headers as Record<string, string>)['Authorization']);
      return new Response('{"actions_allowed":false}');
    };
    const source = new HttpSource('/kept', fetcher);
    expect(await source.open('ab')).toEqual({ actions_allowed: false });
    await source.post('/runs/x/stop', {});
    await new HttpSource('/kept', fetcher).open(); // the tab is loaded anew
    expect(shown).toEqual(['Bearer ab', 'Bearer ab', 'Bearer ab']);
    expect(document.cookie).toBe('');
  });

  it('forgets a token that the server does not take', async () => {
    const refusal = '{"error":{"code":"no session","message":"open the link"}}';
    const source = new HttpSource('/refused', async () => new Response(refusal, { status: 401 }));
    await expect(source.open('old')).rejects.toMatchObject({ code: 'no session' });
    expect(sessionStorage.getItem(`trainwarden key ${location.pathname}/refused`)).toBeNull();
  });

  it('asks the other tabs for the token', async () => {
    const answer = async () => new Response('{}');
    const first = new HttpSource('/tabs', answer);
    await first.open('ab');
    sessionStorage.clear(); // a new tab has a storage of its own
    let shown = '';
    const second = new HttpSource('/tabs', async (_, init) => {
      shown = (init?.headers as Record<string, string>)['Authorization'] ?? '';
      return new Response('{}');
    });
    await second.open();
    expect(shown).toBe('Bearer ab');
  });

  it('asks ahead for what is certain to be asked for, and gives that answer once', async () => {
    const asked: string[] = [];
    const source = new HttpSource('/ahead', async (address) => {
      asked.push(address);
      return new Response(`{"number":${asked.length}}`);
    });
    await source.open('ab', ['/runs/x/steps']);
    expect(asked).toEqual(['/ahead/runs/x/steps', '/ahead/about']);
    expect(await source.json('/runs/x/steps')).toEqual({ number: 1 });
    expect(await source.json('/runs/x/steps')).toEqual({ number: 3 });
  });

  it('asks again when what was asked ahead failed, or is old', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let status = 503;
    const source = new HttpSource('/ahead', async (address) => new Response('{}', { status: address.endsWith('/about') ? 200 : status }));
    await source.open('ab', ['/runs/x/steps', '/runs/x/rules']);
    status = 200;
    expect(await source.json('/runs/x/steps')).toEqual({});
    vi.advanceTimersByTime(60_000);
    expect(await source.json('/runs/x/rules')).toEqual({});
    vi.useRealTimers();
  });

  it('names the run that it looked at, and says when another one lies there', async () => {
    let there = 'one';
    const source = new HttpSource('/api', async (_, init) => {
      const wanted = (init?.headers as Record<string, string>)['X-Trainwarden-Run'];
      if (wanted !== undefined && wanted !== there) {
        return new Response('{"error":{"code":"replaced","message":"another one"}}', { status: 409 });
      }
      return new Response('{}', { headers: { 'X-Trainwarden-Run': there } });
    });
    await source.json('/runs/x/steps');
    there = 'two';
    await expect(source.post('/runs/x/stop', {})).rejects.toMatchObject({ code: 'replaced' });
    await expect(source.json('/runs/x')).rejects.toMatchObject({ code: 'replaced', message: 'This belongs to a run that was removed.' });
    source.follow();
    await expect(source.json('/runs/x')).resolves.toEqual({});
  });

  it('gives files under the names that the server says', async () => {
    const headers = { 'Content-Disposition': "attachment; filename*=UTF-8''a%20b.npy" };
    const file = await new HttpSource('/api', async () => new Response('xy', { headers })).file('/runs/x/page');
    expect(file.name).toBe('a b.npy');
    expect(await file.data.text()).toBe('xy');
  });

  it('takes the token out of the address', () => {
    expect(tokenIn('#t=ab_C-1')).toEqual({ token: 'ab_C-1', rest: '' });
    expect(tokenIn('#t=ab/run/x?step=1')).toEqual({ token: 'ab', rest: '#/run/x?step=1' });
    expect(tokenIn('#/run/t=1')).toEqual({ token: undefined, rest: '#/run/t=1' });
  });
});

describe('EventStream', () => {
  it('puts pieces together, wherever they are cut', () => {
    const text = ': hello\n\nid: 7\ndata: {"a":\ndata: "ü"}\n\nevent: bye\r\ndata:x\r\n\r\n';
    const whole = bytes(text);
    for (let cut = 0; cut <= whole.length; ++cut) {
      const stream = new EventStream();
      const events = [...stream.push(whole.subarray(0, cut)), ...stream.push(whole.subarray(cut))];
      expect(events).toEqual([
        { name: 'message', data: '{"a":\n"ü"}', id: '7' },
        { name: 'bye', data: 'x', id: '7' },
      ]);
    }
  });
});

describe('NoticeFeed', () => {
  it('shows what the stream says and where it stands', async () => {
    const states: FeedState[] = [];
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        stream.enqueue(bytes('data: {"run":"1f","version":2,"kind":"steps","last_step":40}\n\n'));
      },
    });
    const source = new HttpSource('/one', async () => new Response(body));
    source.feed.onState((state) => states.push(state));
    const heard = await new Promise<Notice>((resolve) => {
      const stop = source.notices((notice) => (stop(), resolve(notice)));
    });
    expect(heard).toEqual({ run: '1f', version: 2, kind: 'steps', last_step: 40 });
    expect(states).toEqual(['connecting', 'live']);
  });

  it('begins with the word that anything may be new, but not while the page asks for the first time', async () => {
    vi.useFakeTimers();
    try {
      const anything = 'id: 7\ndata: {"run":"","version":7,"kind":"runs"}\n\n';
      const step = 'id: 8\ndata: {"run":"1f","version":8,"kind":"steps","last_step":40}\n\n';
      const body = new ReadableStream<Uint8Array>({ start: (stream) => stream.enqueue(bytes(anything + step)) });
      const source = new HttpSource('/three', async () => new Response(body));
      const heard: string[] = [];
      const stop = source.notices(({ kind }) => heard.push(kind));
      await vi.advanceTimersByTimeAsync(500);
      expect(heard).toEqual(['steps']);
      await vi.advanceTimersByTimeAsync(1000);
      stop();
      expect(heard).toEqual(['steps', 'runs']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('asks every two seconds where there is no stream', async () => {
    vi.useFakeTimers();
    try {
      let step = 1;
      const fetcher = async (address: string) =>
        address.endsWith('/notices')
          ? new Response('', { status: 404 })
          : new Response(JSON.stringify({ runs: [{ id: 'r', last_step: step++ }] }));
      const source = new HttpSource('/two', fetcher);
      const heard: Notice[] = [];
      const stop = source.notices((notice) => heard.push(notice));
      await vi.advanceTimersByTimeAsync(30000);
      stop();
      expect(source.feed.state).toBe('polling');
      expect(heard[0]).toMatchObject({ run: 'r', kind: 'steps', last_step: 2 });
    } finally {
      vi.useRealTimers();
    }
  });
});
