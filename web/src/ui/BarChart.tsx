// Bars over named places, piled up where there are several kinds; drawn by uPlot. It is loaded when first shown (use
// `lazy`), and says in words what it shows. Limit: whoever does not see it has those words and a table beside it.
import { useComputedColorScheme } from "@mantine/core";
import { useElementSize, useMergedRef } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import "./bar-chart.css";
import { piled } from "./piled";

export interface BarChartProps {
  /** Describe the image (alt text). */
  message: string;
  /** The name of each place, shown when one points at it. */
  places: readonly string[];
  /** Which places are named below, and how. */
  marks: readonly { at: number; name: string }[];
  /** From the bottom up. */
  kinds: readonly { name: string; colour: string; values: readonly number[] }[];
  /** What the bars must stay below, place by place; null: no such limit there. */
  cap?: { name: string; values: readonly (number | null)[] };
}

const HEIGHT = 180;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000];

export default function BarChart({ message, places, marks, kinds, cap }: BarChartProps) {
  const size = useElementSize();
  const place = useRef<HTMLDivElement>(null);
  const ref = useMergedRef(place, size.ref);
  const isPlaced = size.width > 0;
  const scheme = useComputedColorScheme();
  const chart = useRef<uPlot | null>(null);
  const asked = JSON.stringify([places, marks, kinds, cap]);
  useEffect(() => {
    if (place.current === null || !isPlaced) return;
    const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--mantine-${name}`).trim();
    const [ink, lines] = [colour("color-text"), colour("color-default-border")];
    const pile = piled(kinds.map(({ values }) => values));
    // The highest is drawn first, so that those below stay in sight.
    const layers = kinds.map((kind, at) => ({ ...kind, tops: pile[at] ?? [] })).toReversed();
    const drawn = new uPlot(
      {
        width: place.current.clientWidth,
        height: HEIGHT,
        cursor: { drag: { x: false, y: false }, y: false },
        scales: { x: { time: false, range: [-0.5, places.length - 0.5] }, y: { range: (_, __, max) => [0, Math.max(1, max)] } },
        axes: [
          { stroke: ink, grid: { show: false }, ticks: { stroke: lines }, splits: () => marks.map(({ at }) => at), values: () => marks.map(({ name }) => name) },
          { stroke: ink, grid: { stroke: lines }, ticks: { stroke: lines }, incrs: STEPS, size: 44 },
        ],
        series: [
          { label: " ", value: (_, at: number | null) => (at === null ? "" : (places[at] ?? "")) },
          ...layers.map(({ name, colour: of, values }) => ({
            label: name,
            fill: colour(of),
            stroke: colour(of),
            width: 0,
            points: { show: false },
            paths: uPlot.paths.bars?.({ size: [0.8, 40] }),
            value: (_: uPlot, __: number, ___: number, at: number | null) => (at === null ? "" : String(values[at] ?? 0)),
          })),
          ...(cap === undefined
            ? []
            : [{ label: cap.name, stroke: ink, width: 2, dash: [6, 4], points: { show: cap.values.length === 1 }, value: (_: uPlot, value: number | null) => (value === null ? "" : String(value)) }]),
        ],
      },
      [places.map((_, at) => at), ...layers.map(({ tops }) => tops), ...(cap === undefined ? [] : [[...cap.values]])],
      place.current,
    );
    chart.current = drawn;
    return () => drawn.destroy();
    // What is asked for is compared by its words: a new list of the same draws nothing again.
  }, [asked, isPlaced, scheme]);
  useEffect(() => {
    if (isPlaced) chart.current?.setSize({ width: size.width, height: HEIGHT });
  }, [isPlaced, size.width]);
  return <div ref={ref} className="bar-chart" role="img" aria-label={message} style={{ minHeight: HEIGHT }} />;
}
