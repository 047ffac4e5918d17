import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A stand-in for mongod: the real wire protocol over an H2 file, one node, no transactions.
 * `java -cp 'classes:jars/*' MongoStandIn PORT FILE PIDFILE`. It says that it is a MongoDB 5.0,
 * because drivers of today refuse the older number that the library itself gives.
 */
public final class MongoStandIn {
    private static final class Five implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 13;
        }
    }

    public static void main(String[] arguments) throws Exception {
        H2Backend backend = new H2Backend(arguments[1]);
        backend.version(new Five());
        MongoServer server = new MongoServer(backend);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
        Files.writeString(Path.of(arguments[2]), Long.toString(ProcessHandle.current().pid()));
    }
}
