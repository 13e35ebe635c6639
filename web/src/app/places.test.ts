import { expect, it } from 'vitest';

import { views } from '../views';
import { linkTo, placeOf, places, type Place } from './places';

const JOBS: Place = { id: 'jobs', title: 'Jobs', key: 'j', load: () => Promise.reject(new Error('not in this test')) };

it('shows the list of runs where a link names no place, or one that nobody knows', () => {
  expect(placeOf('').id).toBe('runs');
  expect(placeOf('nonsense').id).toBe('runs');
  expect(placeOf('jobs', [...places, JOBS])).toBe(JOBS);
});

it('gives each place an address that leads to it, and the list of runs the page itself', () => {
  expect(linkTo(placeOf('runs'))).toBe('#/');
  expect(linkTo(JOBS)).toBe('#/jobs');
});

it('has one key for each view, with a run or without', () => {
  const keys = [...views, ...places].map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
