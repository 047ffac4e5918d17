// Where short words come up: at a desk on the foot of the navigation, which ends above them; on a telephone at the lower
// edge, and what lies there makes room. Escape takes the newest away, unless a dialog is open, which is closed first.
import { useWindowEvent } from "@mantine/hooks";
import { Notifications, notifications, useNotifications } from "@mantine/notifications";
import { useEffect } from "react";

import "./toasts.css";

const GAP = 16; // below the lowest

export function Toasts() {
  const { notifications: shown } = useNotifications();
  useWindowEvent("keydown", ({ key }) => {
    const newest = shown.at(-1);
    if (key === "Escape" && newest?.id !== undefined && document.querySelector("[role=dialog]") === null) notifications.hide(newest.id);
  });
  useRoom();
  return <Notifications className="toasts" position="bottom-left" containerWidth={560} withinPortal={false} />;
}

/** Tell the style sheets how much of the lower edge the words take: `--toasts`. */
function useRoom(): void {
  useEffect(() => {
    const place = document.querySelector(".toasts[data-position=bottom-left]");
    if (place === null) return;
    const sizes = new ResizeObserver(() => document.documentElement.style.setProperty("--toasts", place.clientHeight === 0 ? "0px" : `${place.clientHeight + GAP}px`));
    sizes.observe(place);
    return () => sizes.disconnect();
  }, []);
}
