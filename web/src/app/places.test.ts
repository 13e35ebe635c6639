import { expect, it } from 'vitest';

import { views } from '../views';
import { linkTo, openPlaces, placeOf, places, type Place } from './places';

const OTHERS: Place = { id: 'others', title: 'Others', key: 'o', load: () => Promise.reject(new Error('not in this test')) };

it('shows the list of runs where a link names no place, or one that nobody knows', () => {
  expect(placeOf('').id).toBe('runs');
  expect(placeOf('nonsense').id).toBe('runs');
  expect(placeOf('others', [...places, OTHERS])).toBe(OTHERS);
});

it('offers jobs where the server has them', () => {
  expect(openPlaces([]).map(({ id }) => id)).toEqual(['runs']);
  expect(openPlaces(['jobs']).map(({ id }) => id)).toEqual(['runs', 'jobs']);
  expect(openPlaces(['jobs', 'experiments', 'studies']).map(({ id }) => id)).toEqual(['runs', 'jobs', 'experiments', 'lineage', 'studies']);
});

it('gives each place an address that leads to it, and the list of runs the page itself', () => {
  expect(linkTo(placeOf('runs'))).toBe('#/');
  expect(linkTo(OTHERS)).toBe('#/others');
});

it('has one key for each view, with a run or without', () => {
  const keys = [...views, ...places].map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
