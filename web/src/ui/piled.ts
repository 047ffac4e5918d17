/** The tops of layers that lie on one another, place by place: the sums from the bottom up. */
export function piled(layers: readonly (readonly number[])[]): number[][] {
  const tops: number[][] = [];
  for (const layer of layers) {
    const below = tops.at(-1);
    tops.push(layer.map((value, at) => value + (below?.[at] ?? 0)));
  }
  return tops;
}
