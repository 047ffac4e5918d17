// The days of a queue with their slots. Posts change places by drag, by keys (Space, arrows, Space; or Alt with
// an arrow) or by menu; before a post is let go, its new time is shown and spoken.
import {
  closestCenter,
  DndContext,
  DragOverlay,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
  type Announcements,
  type DragEndEvent,
} from "@dnd-kit/core";
import { SortableContext, sortableKeyboardCoordinates } from "@dnd-kit/sortable";
import { Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";

import { clock, clockChange, clockChangeWords, dayWords, localDay, moment } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { FixedLine, MovableLine, type LineActs } from "./LineRow";
import { mayMove, movable, moveTo, nameOf, type Day, type Line, type Move, type QueueView } from "./order";
import { t } from "../../messages/queue";

interface Held {
  id: string;
  over: string | null;
}

export function Days(props: { view: QueueView; acts: LineActs | null; why: (line: Line) => void; move: (move: Move | null) => void }) {
  const { view, acts, why, move } = props;
  const [held, setHeld] = useState<Held | null>(null);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 6 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const order = movable(view);
  const names = order.map(nameOf);
  const find = (id: unknown): Line | undefined => order[names.indexOf(String(id))];
  const when = (id: unknown): string => {
    const line = find(id);
    return line === undefined ? "" : moment(line.at, view.zone);
  };
  const drop = ({ active, over }: DragEndEvent) => {
    setHeld(null);
    if (over !== null) move(moveTo(view, String(active.id), names.indexOf(String(over.id))));
  };
  const inHand = (id: unknown) => t("pickedUpTextScheduledForTime", { text: find(id)?.text ?? "post", time: when(id) });
  const announcements: Announcements = {
    onDragStart: ({ active }) => inHand(active.id),
    onDragOver: ({ active, over }) =>
      over === null ? t("notOverASlot") : over.id === active.id ? inHand(active.id) : t("willGoOutTime", { time: when(over.id) }),
    onDragEnd: ({ over }) => (over === null ? t("droppedNothingChanged") : t("droppedAtTime", { time: when(over.id) })),
    onDragCancel: () => t("canceledItStaysWhereItWas"),
  };
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      accessibility={{
        announcements,
        screenReaderInstructions: {
          draggable: t("pressSpaceToPickUpThe"),
        },
      }}
      onDragStart={({ active }) => setHeld({ id: String(active.id), over: null })}
      onDragOver={({ over }) => setHeld((now) => now && { ...now, over: over === null ? null : String(over.id) })}
      onDragCancel={() => setHeld(null)}
      onDragEnd={drop}
    >
      <SortableContext items={names} strategy={() => null}>
        <Stack gap="lg">
          {view.days.map((day) => (
            <OneDay key={day.day} day={day} zone={view.zone} acts={acts} why={why} first={names[0]} last={names.at(-1)} />
          ))}
        </Stack>
      </SortableContext>
      <DragOverlay dropAnimation={null}>
        {held !== null && <Carried line={find(held.id)} was={when(held.id)} to={when(held.over ?? held.id)} />}
      </DragOverlay>
    </DndContext>
  );
}

function Carried({ line, was, to }: { line: Line | undefined; was: string; to: string }) {
  return (
    <Paper shadow="md" withBorder p="xs" maw={520} data-testid="carried">
      <Text size="sm" className="queue-words">
        {line?.text}
      </Text>
      <Text size="sm" fw={650}>
        {was === to ? t("staysWas", { was }) : t("goesOutTo", { to })}
      </Text>
    </Paper>
  );
}

function OneDay(props: { day: Day; zone: string; acts: LineActs | null; why: (line: Line) => void; first?: string; last?: string }) {
  const { day, zone, acts, why } = props;
  const today = localDay(useNow(60_000), zone);
  const change = clockChangeWords(clockChange(day.day, zone));
  if (day.lines.length === 0 && change === null && !day.blackout) return null;
  const isFull = day.max_per_day !== null && day.posts >= day.max_per_day;
  return (
    <section aria-labelledby={`day-${day.day}`}>
      <Group gap="xs" mb={6}>
        <Title order={2} size="h5" id={`day-${day.day}`}>
          {dayWords(day.day, today)}
        </Title>
        <Text size="sm" c="dimmed">
          {day.max_per_day === null ? t("posts", { posts: day.posts }) : t("postsOfMax", { posts: day.posts, max: day.max_per_day, full: isFull ? "yes" : "no" })}
        </Text>
        {change !== null && (
          <Badge variant="outline" color="orange">
            {change}
          </Badge>
        )}
        {day.blackout && (
          <Badge variant="outline" color="gray">
            {t("dayOff")}
          </Badge>
        )}
      </Group>
      <Stack component="ul" gap={6} m={0} p={0} style={{ listStyle: "none" }}>
        {day.lines.map((line) => {
          const shown = { line, clock: clock(line.at, zone), acts, why };
          const key = nameOf(line); // of the post, not of its time: a line that moves keeps its focus
          if (!mayMove(line)) return <FixedLine key={key} {...shown} />;
          return <MovableLine key={key} {...shown} isFirst={nameOf(line) === props.first} isLast={nameOf(line) === props.last} />;
        })}
      </Stack>
    </section>
  );
}
