// The load that every job carries: its number and padding, exactly 100 bytes as compact JSON.
const SIZE = 100
const FRAME = JSON.stringify({ n: 0, pad: '' }).length - 1
export const body = (number) => ({ n: number, pad: 'x'.repeat(SIZE - FRAME - String(number).length) })
