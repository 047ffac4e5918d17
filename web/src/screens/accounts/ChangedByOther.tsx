import { Alert, Button, Group } from "@mantine/core";
import { t } from "../../messages/accounts";

/** Somebody else was quicker: what they saved, or one's own all the same. */
export function ChangedByOther({ title, onTheirs, onMine }: { title: string; onTheirs: () => void; onMine: () => void }) {
  return (
    <Alert role="alert" color="orange" title={title}>
      {t("yourChangesWerentSavedWhichVersion")}
      <Group gap="xs" mt="xs">
        <Button size="xs" variant="default" onClick={onTheirs}>
          {t("keepTheirs")}
        </Button>
        <Button size="xs" onClick={onMine}>
          {t("saveMine")}
        </Button>
      </Group>
    </Alert>
  );
}
