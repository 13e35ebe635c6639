import { expect, it } from 'vitest';

import { idOf } from './ids';
import { formatLink, formatOther, parseLink, parseOther } from './link';

it('reads what it wrote', () => {
  for (const run of ['first', 'a/b c', '100%?#&', 'läuft', '<b>']) {
    const link = { run, view: 'scalars', step: 12, params: { q: 'loss|acc&x=1', b: '3@other run' } };
    expect(parseLink(formatLink(link))).toEqual(link);
  }
  expect(formatLink({ run: 'first', view: '', step: null, params: {} })).toBe('#/run/first');
  expect(formatLink({ run: null, view: '', step: null, params: { q: 'x' } })).toBe('#/?q=x');
});

it('takes what is no link for the list of runs', () => {
  for (const hash of ['', '#', '#/', '#/nonsense', '#/run']) expect(parseLink(hash).run).toBeNull();
  expect(parseLink('#/run/%E0%A4%A/x?step=soon')).toMatchObject({ run: '%E0%A4%A', step: null });
});

it('knows views without a run', () => {
  const link = { run: null, view: 'jobs', step: null, params: { q: 'x' } };
  expect(formatLink(link)).toBe('#/jobs?q=x');
  expect(parseLink('#/jobs?q=x')).toEqual(link);
});

it('knows what is compared', () => {
  expect(parseOther('120')).toEqual({ step: 120, run: null });
  expect(parseOther('@second')).toEqual({ step: null, run: 'second' });
  expect(parseOther('7@a@b')).toEqual({ step: 7, run: 'a@b' });
  expect(parseOther(undefined)).toBeNull();
  expect(formatOther({ step: 7, run: 'a@b' })).toBe('7@a@b');
});

it('gives the ids that the server gives', () => {
  expect(idOf('')).toBe('cbf29ce484222325');
  expect(idOf('a')).toBe('af63dc4c8601ec8c'); // the draft's own test vectors
  expect(idOf('foobar')).toBe('85944171f73967e8');
});
