import { NetworkIcon } from "../../ui/NetworkIcon";
import { clock } from "../../ui/times";
import { stateWord } from "../../ui/words";
import type { Shown } from "./events";

/** One thing on a day: a post, a free slot, a draft in the hand, or the word that clocks change. */
export function EventContent({ shown, zone }: { shown: Shown; zone: string }) {
  if (shown.kind === "clocks")
    return (
      <div className="calendar-entry" data-kind="clocks">
        <span>{shown.says}</span>
      </div>
    );
  if (shown.kind === "ghost")
    return (
      <div className="calendar-entry" data-kind="ghost">
        <span>
          {clock(shown.ghost.at, zone)} free{shown.handle === "" ? "" : `, ${shown.handle}`}
        </span>
      </div>
    );
  if (shown.kind === "draft")
    return (
      <div className="calendar-entry" data-kind="draft">
        <span>{shown.title}</span>
      </div>
    );
  const { pill, title, text } = shown.entry;
  return (
    <div className="calendar-entry" data-kind="entry" data-state={pill.state} title={`${stateWord(pill.state).says}: ${title || text}`}>
      <NetworkIcon of={pill.channel} size={13} />
      <span>
        {clock(pill.at, zone)} {title || text}
        {pill.state !== "scheduled" && ` (${stateWord(pill.state).says})`}
      </span>
    </div>
  );
}
