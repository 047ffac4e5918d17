// A small picture of a file. A video has none of its own: the browser shows its first moment.
import { Image } from "@mantine/core";
import { useState } from "react";
import { t } from "../messages/ui";

export function Thumbnail({ of, alt, w, h }: { of: { workspaceId: string; id: string; kind?: string }; alt: string; w?: number; h: number }) {
  const [isFilm, setIsFilm] = useState(of.kind === "video");
  const base = `/api/v1/workspaces/${of.workspaceId}/media/${of.id}`;
  if (!isFilm) return <Image src={`${base}/thumbnail`} alt={alt} w={w} h={h} fit="cover" radius="sm" onError={() => setIsFilm(of.kind === undefined)} />;
  return (
    <video
      src={`${base}/file#t=0.1`}
      aria-label={alt || t("video")}
      muted
      playsInline
      preload="metadata"
      style={{ width: w ?? "100%", height: h, objectFit: "cover", borderRadius: "var(--mantine-radius-sm)", display: "block" }}
    />
  );
}
