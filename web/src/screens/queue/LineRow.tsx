import { ActionIcon, Anchor, Badge, Button, Group, Menu, Text } from "@mantine/core";
import { useMergedRef } from "@mantine/hooks";
import { useSortable } from "@dnd-kit/sortable";
import {
  IconArrowBarToUp,
  IconArrowDown,
  IconArrowsExchange,
  IconArrowUp,
  IconDots,
  IconGripVertical,
  IconHelpCircle,
  IconPencil,
  IconPencilPlus,
  IconPlayerSkipForward,
  IconSend,
  IconTrash,
} from "@tabler/icons-react";
import type { KeyboardEvent } from "react";
import { Link } from "react-router";

import { NetworkIcon } from "../../ui/NetworkIcon";
import { channelName } from "../../ui/words";
import { carryFocus, useCarriedFocus } from "./carryFocus";
import { mayMove, nameOf, type Line } from "./order";
import { t } from "../../messages/queue";

const kinds: Partial<Record<Line["kind"], { message: string; colour: string }>> = {
  held: { message: t("onHold"), colour: "yellow" },
  by_hand: { message: t("fixedTime"), colour: "gray" },
  pinned: { message: t("fixedTime"), colour: "grape" },
  sending: { message: t("sending"), colour: "cyan" },
  sent: { message: t("sent"), colour: "teal" },
};

export interface LineActs {
  step: (id: string, by: -1 | 1) => void;
  toTop: (id: string) => void;
  swap: (line: Line) => void;
  skip: (at: string) => void;
  unskip: (at: string) => void;
  remove: (line: Line) => void;
  publish: (line: Line) => void;
  compose: (at: string) => string;
  edit: (postId: string) => string;
}

interface Shown {
  line: Line;
  clock: string;
  acts: LineActs | null;
  /** Say why it goes then, or does not: for everybody who may look. */
  why: (line: Line) => void;
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
          aria-label={t("moveTextClock", { text: words(line), clock: props.clock })}
        >
          <IconGripVertical size={18} />
        </ActionIcon>
      )}
      <Clock {...props} />
      <Said {...props} />
      {acts !== null && <More {...props} acts={acts} />}
    </li>
  );
}

/** What can be done with a post; one that may change its place says where it stands. */
function More({ line, clock, acts, why, isFirst, isLast }: Shown & { acts: LineActs; isFirst?: boolean; isLast?: boolean }) {
  const id = nameOf(line);
  const moved = (act: () => void) => () => {
    carryFocus(id, "more");
    act();
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" data-part="more" aria-label={t("moreForTextClock", { text: words(line), clock })}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {line.post_id !== null && (
          <Menu.Item component={Link} to={acts.edit(line.post_id)} leftSection={<IconPencil size={16} aria-hidden />}>
            {t("editPost")}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconHelpCircle size={16} aria-hidden />} onClick={() => why(line)}>
          {t("details")}
        </Menu.Item>
        {line.state !== "draft" && line.unfit === null && (
          <Menu.Item leftSection={<IconSend size={16} aria-hidden />} onClick={() => acts.publish(line)}>
            {t("publishNowDots")}
          </Menu.Item>
        )}
        {mayMove(line) && (
          <>
            <Menu.Divider />
            <Menu.Item disabled={isFirst} leftSection={<IconArrowUp size={16} aria-hidden />} onClick={moved(() => acts.step(id, -1))}>
              {t("moveUp")}
            </Menu.Item>
            <Menu.Item disabled={isLast} leftSection={<IconArrowDown size={16} aria-hidden />} onClick={moved(() => acts.step(id, 1))}>
              {t("moveDown")}
            </Menu.Item>
            <Menu.Item disabled={isFirst} leftSection={<IconArrowBarToUp size={16} aria-hidden />} onClick={moved(() => acts.toTop(id))}>
              {t("moveToTop")}
            </Menu.Item>
            <Menu.Item disabled={isFirst && isLast} leftSection={<IconArrowsExchange size={16} aria-hidden />} onClick={() => acts.swap(line)}>
              {t("swapDots")}
            </Menu.Item>
          </>
        )}
        {line.kind === "filled" && (
          <Menu.Item leftSection={<IconPlayerSkipForward size={16} aria-hidden />} onClick={() => acts.skip(line.at)}>
            {t("skipThisSlot")}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => acts.remove(line)}>
          {t("removeFromQueueDots")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** A line that stays where it is: a free, skipped or capped slot, or a post that nobody moves. */
export function FixedLine(props: Shown) {
  const { line, clock, acts } = props;
  return (
    <li className="queue-line" data-kind={line.kind}>
      <span />
      <Clock line={line} clock={clock} />
      {line.ids.length > 0 ? <Said {...props} /> : <Text size="sm" c="dimmed">{freeWords(line)}</Text>}
      {acts === null ? <span /> : <FixedActs {...props} acts={acts} />}
    </li>
  );
}

function FixedActs(props: Shown & { acts: LineActs }) {
  const { line, clock, acts } = props;
  if (line.kind === "skipped")
    return (
      <Button size="compact-sm" variant="subtle" aria-label={t("restoreSlotClock", { clock })} onClick={() => acts.unskip(line.at)}>
        {t("restoreSlot")}
      </Button>
    );
  if (line.kind === "by_hand" || line.kind === "pinned") return <More {...props} />;
  if (line.kind !== "empty" && line.kind !== "capped") return <span />;
  return (
    <Group gap={2} wrap="nowrap">
      <Button size="compact-sm" variant="subtle" color="gray" aria-label={t("skipClock", { clock })} onClick={() => acts.skip(line.at)}>
        {t("skip")}
      </Button>
      <ActionIcon component={Link} to={acts.compose(line.at)} variant="subtle" aria-label={t("writeAPostForClock", { clock })}>
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
          {line.mark === "gap" ? t("movedClocksChange") : t("inTheRepeatedHour")}
        </Text>
      )}
    </div>
  );
}

/** The post's first words lead to it; who may not edit, or comes too late for that, is told its story. */
function Said({ line, acts, why }: Shown) {
  const kind = kinds[line.kind];
  const look = { size: "sm", c: "var(--mantine-color-text)", className: "queue-words" } as const;
  const waits = line.kind !== "sending" && line.kind !== "sent";
  return (
    <div>
      {acts !== null && waits && line.post_id !== null ? (
        <Anchor {...look} component={Link} to={acts.edit(line.post_id)}>
          {words(line)}
        </Anchor>
      ) : (
        <Anchor {...look} component="button" type="button" ta="start" onClick={() => why(line)}>
          {words(line)}
        </Anchor>
      )}
      <Group gap={6}>
        {line.channels.map((channel) => (
          <Group key={channel} gap={4} wrap="nowrap">
            <NetworkIcon of={channel} size={13} />
            <Text size="xs" c="dimmed">
              {channelName(channel)}
            </Text>
          </Group>
        ))}
        {line.state === "draft" && <Mark message={t("needsApproval")} colour="grape" />}
        {line.unfit !== null && <Mark message={t("cantBeSent")} colour="red" />}
        {kind !== undefined && <Mark message={kind.message} colour={kind.colour} />}
        {(line.unfit ?? line.note) !== null && (
          <Text size="xs" c="dimmed">
            {line.unfit ?? line.note}
          </Text>
        )}
      </Group>
    </div>
  );
}

function Mark({ message, colour }: { message: string; colour: string }) {
  return (
    <Badge size="sm" variant="outline" color={colour}>
      {message}
    </Badge>
  );
}

export const words = (line: Line): string => line.text?.trim() || t("postWithoutText");

function freeWords(line: Line): string {
  switch (line.kind) {
    case "skipped":
      return line.note ? t("skippedNote", { note: line.note }) : t("skipped");
    case "capped":
      return t("freeButTheDayIsFull");
    case "past":
      return t("passedUnused");
    default:
      return t("free");
  }
}
