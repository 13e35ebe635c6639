// Files that the page gives away.
import type { DType } from '../data/safetensors';

/** A cell that begins like a formula would be run by a spreadsheet: such texts get a quote in front. */
function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

export function csvOf(rows: readonly (readonly (string | number)[])[]): Blob {
  return new Blob([rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n'], { type: 'text/csv' });
}

const NPY_TYPES: Partial<Record<DType, string>> = {
  F64: '<f8', F32: '<f4', F16: '<f2', I64: '<i8', I32: '<i4', I16: '<i2', I8: '|i1',
  U64: '<u8', U32: '<u4', U16: '<u2', U8: '|u1', BOOL: '|b1',
};

/** NumPy's format, version 1.0. `bytes` packed, row-major, little-endian; undefined for a dtype that NumPy lacks. */
export function npyOf(dtype: DType, shape: readonly number[], bytes: Uint8Array): Blob | undefined {
  const type = NPY_TYPES[dtype];
  if (type === undefined) return undefined;
  const dimensions = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${dimensions}), }`;
  const padded = header + ' '.repeat(63 - ((10 + header.length) % 64)) + '\n';
  const head = new Uint8Array(10 + padded.length);
  head.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, padded.length & 255, padded.length >> 8]);
  head.set(new TextEncoder().encode(padded), 10);
  return new Blob([head, bytes as BlobPart], { type: 'application/octet-stream' });
}

/** What a file may be called everywhere. */
export function fileName(...parts: (string | number)[]): string {
  return parts.map((part) => String(part).replace(/[^\p{L}\p{N}._-]+/gu, '_')).join('-').slice(0, 120);
}

export function save(name: string, data: Blob): void {
  const address = URL.createObjectURL(data);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
