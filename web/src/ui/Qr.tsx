// A QR code drawn here: what it holds is a secret and goes to no other server.
import { encode } from "uqr";

export function Qr({ text, label, size = 208 }: { text: string; label: string; size?: number }) {
  const { data, size: cells } = encode(text, { border: 2 });
  const dark = data.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg role="img" aria-label={label} width={size} height={size} viewBox={`0 0 ${cells} ${cells}`} shapeRendering="crispEdges">
      <rect width={cells} height={cells} fill="#fff" />
      <path d={dark.join("")} fill="#000" />
    </svg>
  );
}
