// The load that every job carries: its number and padding, 100 bytes as compact JSON.
const PADDING = 'x'.repeat(74)
export const body = (number) => ({ n: number, pad: PADDING })
