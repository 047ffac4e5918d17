import { ActionIcon, Badge, Button, Group, Menu, Text } from "@mantine/core";
import { useMergedRef } from "@mantine/hooks";
import { useSortable } from "@dnd-kit/sortable";
import {
  IconArrowBarToUp,
  IconArrowDown,
  IconArrowsExchange,
  IconArrowUp,
  IconDots,
  IconGripVertical,
  IconPencilPlus,
  IconPlayerSkipForward,
  IconTrash,
} from "@tabler/icons-react";
import type { KeyboardEvent } from "react";
import { Link } from "react-router";

import { NetworkIcon } from "../../ui/NetworkIcon";
import { channelName } from "../../ui/words";
import { carryFocus, useCarriedFocus } from "./carryFocus";
import { nameOf, type Line } from "./order";

const kinds: Partial<Record<Line["kind"], { says: string; colour: string }>> = {
  held: { says: "Held", colour: "yellow" },
  by_hand: { says: "Timed by hand", colour: "gray" },
  pinned: { says: "Pinned: its slot is gone", colour: "grape" },
  sending: { says: "On its way", colour: "cyan" },
  sent: { says: "Sent", colour: "teal" },
};

export interface LineActs {
  step: (id: string, by: -1 | 1) => void;
  toTop: (id: string) => void;
  swap: (line: Line) => void;
  skip: (at: string) => void;
  unskip: (at: string) => void;
  remove: (line: Line) => void;
  compose: (at: string) => string;
}

interface Shown {
  line: Line;
  clock: string;
  acts: LineActs | null;
}

/** A post that may change its place: the handle drags, by mouse, finger or keys. */
export function MovableLine(props: Shown & { isFirst: boolean; isLast: boolean }) {
  const { line, acts } = props;
  const id = nameOf(line);
  const sortable = useSortable({ id, disabled: acts === null });
  const ref = useMergedRef<HTMLElement>(useCarriedFocus(id), sortable.setNodeRef);
  const keys = (event: KeyboardEvent) => {
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      acts?.step(id, event.key === "ArrowUp" ? -1 : 1);
    } else (sortable.listeners?.onKeyDown as ((event: KeyboardEvent) => void) | undefined)?.(event);
  };
  return (
    <li
      ref={ref}
      className="queue-line"
      data-kind={line.kind}
      data-moving={sortable.isDragging || undefined}
      data-target={(sortable.isOver && !sortable.isDragging) || undefined}
      data-line={id}
    >
      {acts === null ? (
        <span />
      ) : (
        <ActionIcon
          ref={sortable.setActivatorNodeRef}
          className="queue-handle"
          variant="subtle"
          color="gray"
          {...sortable.attributes}
          {...sortable.listeners}
          onKeyDown={keys}
          data-part="handle"
          aria-label={`Move: ${words(line)}, ${props.clock}`}
        >
          <IconGripVertical size={18} />
        </ActionIcon>
      )}
      <Clock {...props} />
      <Said line={line} />
      {acts !== null && <More {...props} acts={acts} />}
    </li>
  );
}

function More({ line, clock, acts, isFirst, isLast }: Shown & { acts: LineActs; isFirst: boolean; isLast: boolean }) {
  const id = nameOf(line);
  const moved = (act: () => void) => () => {
    carryFocus(id, "more");
    act();
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" data-part="more" aria-label={`More for ${words(line)}, ${clock}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={isFirst} leftSection={<IconArrowUp size={16} aria-hidden />} onClick={moved(() => acts.step(id, -1))}>
          Move up
        </Menu.Item>
        <Menu.Item disabled={isLast} leftSection={<IconArrowDown size={16} aria-hidden />} onClick={moved(() => acts.step(id, 1))}>
          Move down
        </Menu.Item>
        <Menu.Item disabled={isFirst} leftSection={<IconArrowBarToUp size={16} aria-hidden />} onClick={moved(() => acts.toTop(id))}>
          To the top
        </Menu.Item>
        <Menu.Item disabled={isFirst && isLast} leftSection={<IconArrowsExchange size={16} aria-hidden />} onClick={() => acts.swap(line)}>
          Swap with another…
        </Menu.Item>
        {line.kind === "filled" && (
          <Menu.Item leftSection={<IconPlayerSkipForward size={16} aria-hidden />} onClick={() => acts.skip(line.at)}>
            Skip this slot
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => acts.remove(line)}>
          Take off the queue
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** A line that stays where it is: a free, skipped or capped slot, or a post that nobody moves. */
export function FixedLine({ line, clock, acts }: Shown) {
  return (
    <li className="queue-line" data-kind={line.kind}>
      <span />
      <Clock line={line} clock={clock} />
      {line.ids.length > 0 ? <Said line={line} /> : <Text size="sm" c="dimmed">{freeWords(line)}</Text>}
      {acts === null ? <span /> : <FixedActs line={line} clock={clock} acts={acts} />}
    </li>
  );
}

function FixedActs({ line, clock, acts }: { line: Line; clock: string; acts: LineActs }) {
  if (line.kind === "skipped")
    return (
      <Button size="compact-sm" variant="subtle" aria-label={`Offer ${clock} again`} onClick={() => acts.unskip(line.at)}>
        Offer again
      </Button>
    );
  if (line.kind === "by_hand" || line.kind === "pinned")
    return (
      <ActionIcon variant="subtle" color="gray" aria-label={`Take off the queue: ${words(line)}, ${clock}`} onClick={() => acts.remove(line)}>
        <IconTrash size={16} />
      </ActionIcon>
    );
  if (line.kind !== "empty" && line.kind !== "capped") return <span />;
  return (
    <Group gap={2} wrap="nowrap">
      <Button size="compact-sm" variant="subtle" color="gray" aria-label={`Skip ${clock}`} onClick={() => acts.skip(line.at)}>
        Skip
      </Button>
      <ActionIcon component={Link} to={acts.compose(line.at)} variant="subtle" aria-label={`Write a post for ${clock}`}>
        <IconPencilPlus size={18} />
      </ActionIcon>
    </Group>
  );
}

function Clock({ line, clock }: { line: Line; clock: string }) {
  return (
    <div>
      <Text className="queue-time" component="time" dateTime={line.at} fw={600} size="sm">
        {clock}
      </Text>
      {line.mark !== "none" && (
        <Text size="xs" c="dimmed">
          {line.mark === "gap" ? "moved by the clock change" : "in the repeated hour"}
        </Text>
      )}
    </div>
  );
}

function Said({ line }: { line: Line }) {
  const kind = kinds[line.kind];
  return (
    <div>
      <Text size="sm" className="queue-words">
        {words(line)}
      </Text>
      <Group gap={6}>
        {line.channels.map((channel) => (
          <Group key={channel} gap={4} wrap="nowrap">
            <NetworkIcon of={channel} size={13} />
            <Text size="xs" c="dimmed">
              {channelName(channel)}
            </Text>
          </Group>
        ))}
        {line.state === "draft" && <Mark says="Waits for approval" colour="grape" />}
        {kind !== undefined && <Mark says={kind.says} colour={kind.colour} />}
        {line.note !== null && (
          <Text size="xs" c="dimmed">
            {line.note}
          </Text>
        )}
      </Group>
    </div>
  );
}

function Mark({ says, colour }: { says: string; colour: string }) {
  return (
    <Badge size="sm" variant="outline" color={colour}>
      {says}
    </Badge>
  );
}

export const words = (line: Line): string => line.text?.trim() || "A post without words";

function freeWords(line: Line): string {
  switch (line.kind) {
    case "skipped":
      return line.note ? `Skipped: ${line.note}` : "Skipped";
    case "capped":
      return "Free, but the day is full";
    case "past":
      return "Went by empty";
    default:
      return "Free";
  }
}
