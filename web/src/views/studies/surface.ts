// A surface through scattered values over the unit square: at each place the mean of the values around it, weighted by
// a Gaussian of the distance (Nadaraya 1964, "On estimating regression"; Watson 1964, "Smooth regression analysis").
// Where no value is near there is none: nothing is made up.

/** All from 0 to 1. */
export interface SurfacePoint {
  x: number;
  y: number;
  value: number;
}

export interface SurfaceAxis {
  cells: number;
  /** Are the cells choices, of which none is near another? */
  apart: boolean;
}

export interface Surface {
  columns: number;
  rows: number;
  /** Row by row from the lowest y, in each from the lowest x. NaN: nothing is near. */
  values: Float64Array;
  /** Of the Gaussian, as a share of an axis; 0 where both axes are of choices. */
  width: number;
}

/** What a value two widths away weighs: a place where all weigh less together is empty. */
const LEAST_WEIGHT = Math.exp(-2);

/**
 * The standard deviation of the Gaussian for so many points: Scott's rule (Scott 1992, "Multivariate density
 * estimation", 6.2), s n^(-1/(d+4)), with the s of values that lie evenly from 0 to 1, 1/sqrt(12), over d axes.
 */
export function gaussianWidth(points: number, axes: number): number {
  return Math.max(1, points) ** (-1 / (axes + 4)) / Math.sqrt(12);
}

export function surfaceOf(points: readonly SurfacePoint[], x: SurfaceAxis, y: SurfaceAxis): Surface {
  const smooth = Number(!x.apart) + Number(!y.apart);
  const width = smooth === 0 ? 0 : gaussianWidth(points.length, smooth);
  const weights = new Float64Array(x.cells * y.cells);
  const sums = new Float64Array(x.cells * y.cells);
  for (const point of points) {
    const across = weightsAlong(point.x, x, width);
    weightsAlong(point.y, y, width).forEach((up, row) => {
      if (up === 0) return;
      for (let column = 0, at = row * x.cells; column < x.cells; ++column, ++at) {
        const weight = up * across[column]!;
        weights[at]! += weight;
        sums[at]! += weight * point.value;
      }
    });
  }
  const values = sums.map((sum, at) => (weights[at]! >= LEAST_WEIGHT ? sum / weights[at]! : NaN));
  return { columns: x.cells, rows: y.cells, values, width };
}

/** What the middle of each cell of an axis gives to a point there. */
function weightsAlong(at: number, { cells, apart }: SurfaceAxis, width: number): Float64Array {
  const weights = new Float64Array(cells);
  if (apart) {
    const cell = Math.floor(at * cells);
    if (cell >= 0 && cell < cells) weights[cell] = 1;
    return weights;
  }
  for (let cell = 0; cell < cells; ++cell) weights[cell] = Math.exp(-0.5 * (((cell + 0.5) / cells - at) / width) ** 2);
  return weights;
}

/** The lowest and the highest value; null where there is none. */
export function surfaceRange({ values }: Surface): readonly [low: number, high: number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}
