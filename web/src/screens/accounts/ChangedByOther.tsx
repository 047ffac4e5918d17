import { Alert, Button, Group } from "@mantine/core";

/** Somebody else was quicker: what they saved, or one's own all the same. */
export function ChangedByOther({ what, onTheirs, onMine }: { what: string; onTheirs: () => void; onMine: () => void }) {
  return (
    <Alert role="alert" color="orange" title={`Somebody else changed the ${what} meanwhile`}>
      Nothing of yours was saved. It is for you to decide:
      <Group gap="xs" mt="xs">
        <Button size="xs" variant="default" onClick={onTheirs}>
          Take theirs, drop mine
        </Button>
        <Button size="xs" onClick={onMine}>
          Save mine all the same
        </Button>
      </Group>
    </Alert>
  );
}
